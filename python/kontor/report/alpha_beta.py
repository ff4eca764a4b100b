# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A point's time by the alpha-beta model: computing as at the baseline, messages by the run's own calibration.

This is an estimate from one record; docs/reference/metrics.md says what it leaves out.
"""

import math
from dataclasses import dataclass

from .pop import useful_times
from .record import Record
from .scaling import work_of
from .statistics import median
from .study import Point
from .traffic_model import blocks

REDUCES = ("reduce", "sums_post")
EXCHANGES = ("post", "wait")
TIMED_MESSAGE = 2 << 20  # bytes (miniapps/machine/link.hpp)


@dataclass
class Prediction:
    compute: float | None  # seconds of a repeat, from the baseline; None if that has no useful time
    communicate: float  # seconds of a repeat, by alpha and beta, less what is hidden behind computing
    measured: float
    measured_communication: float | None  # of the rank that computes most: the time of a repeat less its useful time
    links: str  # whose alpha and beta
    is_base: bool

    @property
    def total(self) -> float | None:
        return None if self.compute is None else self.compute + self.communicate

    @property
    def error(self) -> float | None:
        """Predicted over measured, less 1; None at the baseline, which is where the computing is from."""
        return None if self.total is None or not self.measured or self.is_base else self.total / self.measured - 1


def predict(point: Point, base: Point) -> Prediction | None:
    """None if the record tells no link or the time is not known."""
    record = point.records[0] if point.records else None
    if record is None or not record.seconds:
        return None
    link = link_of(record)
    if link is None and record.traffic:
        return None
    alpha, beta, links = link or (0.0, 0.0, "no messages")
    useful = [one for run in point.records for one in useful_times(run)]
    own = median([one.wall - one.most for one in useful]) if useful else None
    compute = _compute(point, base)
    exchange, reduction = communication(record, alpha, beta)
    exchange -= min(exchange, (compute or 0.0) * hides(record, links))
    return Prediction(compute, exchange + reduction, median(point.sample), own, links, point is base)


def link_of(record: Record) -> tuple[float, float, str] | None:
    """alpha (s), beta (s/B): of the link between nodes if there are several, else of the one inside; beta of messages as large as the
    run's, if they are larger than those by which links are timed."""
    machine = record.calibration
    for prefix, words in (("internode_", "between nodes"), ("", "inside a node")):
        alpha, bandwidth = machine.get(f"{prefix}latency"), machine.get(f"{prefix}bandwidth")
        if alpha and bandwidth:
            large = max((row["bytes"] / row["messages"] for row in record.traffic if row["messages"]), default=0) > TIMED_MESSAGE
            bandwidth = machine.get("large_bandwidth", bandwidth) if large else bandwidth
            return alpha, 1 / bandwidth, words
    return None


def hides(record: Record, links: str) -> float:
    """The part of computing behind which exchanges go on: what needs no ghosts. None on hosts inside a node, where processors copy
    messages instead of computing."""
    on_host = record.per_rank.get("useful", 1) if record.per_rank else 1
    if not record.run.get("overlap") or (on_host and links == "inside a node"):
        return 0.0
    if record.run.get("app") == "heat":
        parts = [max(0.0, 1 - 2 * ranks / extent) if ranks > 1 else 1.0 for extent, ranks in blocks(record)]  # of a block in the middle
        return math.prod(parts) if parts else 0.0
    if record.run.get("app") == "cg" and on_host:  # regions of a GPU do not tell how long the product takes
        product, boundary, vectors = (record.timers.get(name, {}).get("mean", 0.0) for name in ("spmv", "spmv_boundary", "vectors"))
        return product / (product + boundary + vectors) if product else 0.0
    return 0.0  # matmul skews and restores with nothing to hide it


def communication(record: Record, alpha: float, beta: float) -> tuple[float, float]:
    """Seconds of a repeat of exchanges and of reductions: of the rank that sends most, each message alpha and beta for each byte; a
    reduction takes ceil(log2 P) messages one after the other."""
    of_rank: dict[int, float] = {}
    for row in record.traffic:
        of_rank[row["rank"]] = of_rank.get(row["rank"], 0.0) + row["messages"] * alpha + row["bytes"] * beta
    exchanges = max(_calls(record, region) for region in EXCHANGES)
    reductions = sum(_calls(record, region) for region in REDUCES)
    if _calls(record, "graph") and exchanges:  # regions do not see what a graph repeats: one exchange a step
        steps = max(exchanges, record.run.get("sweeps", 0), record.run.get("iterations", 0))
        reductions += _calls(record, "sums_post") * (steps / exchanges - 1)  # norms of heat's graphs are seen
        exchanges = steps
    stages = math.ceil(math.log2(record.run.get("ranks", 1))) if record.run.get("ranks", 1) > 1 else 0
    return exchanges * max(of_rank.values(), default=0.0), reductions * stages * (alpha + 8 * beta)


def _calls(record: Record, region: str) -> int:
    return record.timers.get(region, {}).get("calls", 0)


def _compute(point: Point, base: Point) -> float | None:
    """The baseline's useful time of a worker, grown as the work of a worker does. One rank that sends nothing computes all
    the time, on a GPU as well."""
    useful = [one.mean for record in base.records for one in useful_times(record)]
    if not useful and all(record.run.get("ranks") == 1 and not record.traffic for record in base.records):
        useful = base.sample
    work, base_work = work_of(point), work_of(base)
    if not useful or not work or not base_work:
        return None
    return median(useful) * work / base_work * base.workers / point.workers

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model of a repeat's time: what ranks compute, and messages by the latency and bandwidth of a link.

    seconds = compute + messages - hidden

Measured, compute is the useful time of the ranks: all but regions of the kind communication. The fractions of POP are
ratios of it to the seconds of a repeat. Predicted, compute is the baseline's, grown with the work, and messages are
those of the busiest rank by the run's calibration. docs/reference/metrics.md has the definitions and their sources.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .record import Record
from .scaling import work_of
from .statistics import Estimate, estimate, median, median_of, ratio
from .study import Point

EXACT = Estimate(1.0, 1.0, 1.0)
TIMED_MESSAGE = 2 << 20  # bytes (miniapps/machine/link.hpp)
LEAST = 0.95  # a fraction above it limits nothing


class Useful(NamedTuple):
    """Of one repeat."""

    mean: float  # over ranks, seconds
    most: float
    total: float
    packing: float  # the part of `total` that packs
    wall: float  # of the slowest rank


@dataclass
class Pop:
    """Fractions of 1. `computation` and `overall` are None where work is unknown; `serialisation`, an upper bound, and
    `transfer`, a lower bound, are None without a run with backend null."""

    load_balance: Estimate
    communication: Estimate
    parallel: Estimate
    packing: float
    computation: Estimate | None = None  # computational scalability
    overall: Estimate | None = None  # global efficiency
    serialisation: Estimate | None = None
    transfer: Estimate | None = None

    @property
    def words(self) -> str:
        """What takes most."""
        parts = {"load balance": self.load_balance, "communication": self.communication,
                 "computational scalability": self.computation or EXACT}
        least = min(parts, key=lambda name: parts[name].value)
        return least if parts[least].value < LEAST else ""


class Prediction(NamedTuple):
    compute: float | None  # seconds of a repeat, from the baseline; None if that has no useful time
    communicate: float  # seconds of a repeat, less what may be hidden behind computing
    measured: float
    measured_communication: float | None  # of the rank that computes most: the time of a repeat less its useful time
    links: str  # whose latency and bandwidth
    is_base: bool

    @property
    def total(self) -> float | None:
        return None if self.compute is None else self.compute + self.communicate

    @property
    def error(self) -> float | None:
        """Predicted over measured, less 1; None at the baseline, which is where the computing is from."""
        return None if self.total is None or not self.measured or self.is_base else self.total / self.measured - 1


def useful_times(record: Record) -> list[Useful]:
    """Of each repeat; empty where why_none() gives a reason."""
    if why_none(record) or not record.per_rank.get("seconds"):
        return []
    kinds = [record.kind(region) for region in record.per_rank["regions"]]
    seconds, walls = (np.array(record.per_rank[key], dtype=float) for key in ("seconds", "wall"))
    useful = seconds[:, :, [kind != "communication" for kind in kinds]].sum(axis=2)
    packing = seconds[:, :, [kind == "packing" for kind in kinds]].sum(axis=(1, 2))
    found = [Useful(*map(float, (of.mean(), of.max(), of.sum(), packs, wall.max())))
             for of, packs, wall in zip(useful, packing, walls) if of.size]
    return [one for one in found if one.most > 0 and one.wall > 0]


def why_none(record: Record) -> str:
    """Why there is no useful time; empty if there may be."""
    if not record.per_rank:
        return "the record has no seconds of each rank"
    if not record.per_rank.get("useful", 1):
        return "kernels ran on a GPU, where regions have the time of launches"
    return "" if record.knows_kinds else "the record does not give the kinds of regions, so communication is not known"


def pop_of(point: Point, base: Point, null: Point | None = None) -> Pop | None:
    """Each fraction is the median over the repeats of a run, then over runs. `null` is the point with backend null."""
    runs, base_runs, work, base_work = _runs(point), _runs(base), work_of(point), work_of(base)
    if not runs:
        return None
    parallel = _sample(runs, lambda one: one.mean / one.wall)
    found = Pop(median_of(_sample(runs, lambda one: one.mean / one.most)),
                median_of(_sample(runs, lambda one: one.most / one.wall)), median_of(parallel),
                median([one.packing / one.total for run in runs for one in run]))
    if base_runs and work and base_work:
        mine, other = ([total / done for total in _sample(of, lambda one: one.total)]
                       for of, done in ((runs, work), (base_runs, base_work)))
        found.computation = EXACT if point is base else ratio(other, mine)
        found.overall = estimate(lambda a, b, c: a if point is base else a * c / b, parallel, mine, other)
        if not found.parallel.known or not found.computation.known:
            found.overall = Estimate(found.overall.value)
    if null and null.sample:
        found.serialisation = ratio(_sample(runs, lambda one: one.most), null.sample)
        found.transfer = ratio(null.sample, _sample(runs, lambda one: one.wall))
    return found


def _runs(point: Point) -> list[list[Useful]]:
    return [times for record in point.records if (times := useful_times(record))]


def _sample(runs: list[list[Useful]], what: Callable[[Useful], float]) -> list[float]:
    """Of one run each repeat, of several the median of each."""
    values = [list(map(what, run)) for run in runs]
    return values[0] if len(runs) == 1 else list(map(median, values))


def predict(point: Point, base: Point) -> Prediction | None:
    """None if the record tells no link or the time is not known."""
    record = point.records[0] if point.records else None
    link = link_of(record) if record else None
    if record is None or not record.seconds or (link is None and record.traffic):
        return None
    latency, per_byte, links = link or (0.0, 0.0, "no messages")
    useful = [one for run in _runs(point) for one in run]
    own = median([one.wall - one.most for one in useful]) if useful else None
    compute, messages = _compute(point, base), message_seconds(record, latency, per_byte)
    # Not on hosts inside a node: there processors copy messages.
    if record.run.get("overlap") and not (record.per_rank.get("useful", 1) and links == "inside a node"):
        messages -= min(messages, compute or 0.0)
    return Prediction(compute, messages, median(point.sample), own, links, point is base)


def link_of(record: Record) -> tuple[float, float, str] | None:
    """Latency (s), s/B: of the link between nodes if there are several, else inside a node; of large messages where
    the run's are larger than those by which links are timed."""
    machine = record.calibration
    for prefix, words in (("internode_", "between nodes"), ("", "inside a node")):
        latency, bandwidth = machine.get(f"{prefix}latency"), machine.get(f"{prefix}bandwidth")
        if latency and bandwidth:
            if any(row["bytes"] > TIMED_MESSAGE * row["messages"] > 0 for row in record.traffic):
                bandwidth = machine.get("large_bandwidth", bandwidth)
            return latency, 1 / bandwidth, words
    return None


def message_seconds(record: Record, latency: float, per_byte: float) -> float:
    """Of a repeat: the rank whose messages of one exchange take longest, times the exchanges."""
    of_rank: dict[int, float] = {}
    for row in record.traffic:
        of_rank[row["rank"]] = of_rank.get(row["rank"], 0.0) + row["messages"] * latency + row["bytes"] * per_byte
    return exchanges(record) * max(of_rank.values(), default=0.0)


def exchanges(record: Record) -> float:
    """Of a rank in a repeat: as the distribution counts them, else steps, else calls of communication."""
    counted = next((row.get("count", 0) for row in record.distributions if row["name"] == "exchange"), 0)
    if counted and record.repeats:
        return float(counted / len(record.repeats) / max(1, record.run.get("ranks", 1)))
    steps = max((record.run.get(key, 0) for key in ("sweeps", "iterations", "steps")), default=0)
    calls = [record.timers[region].get("calls", 0) for region in record.parts if record.kind(region) == "communication"]
    return float(steps or max(calls, default=0))


def _compute(point: Point, base: Point) -> float | None:
    """The baseline's useful time of a worker, grown as the work of a worker does. One rank that sends nothing
    computes all the time, on a GPU as well."""
    useful = [one.mean for run in _runs(base) for one in run]
    if not useful and all(record.run.get("ranks") == 1 and not record.traffic for record in base.records):
        useful = base.sample
    work, base_work = work_of(point), work_of(base)
    if not useful or not work or not base_work:
        return None
    return median(useful) * work / base_work * base.workers / point.workers

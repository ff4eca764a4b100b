# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""POP metrics of a point, from the seconds of each rank. docs/scaling-metrics.md has the definitions and their sources."""

from dataclasses import dataclass

import numpy as np

from .record import PACKING, WORK, Record
from .scaling import work_of
from .statistics import Estimate, estimate, median
from .study import Point

USEFUL = (WORK, PACKING)


@dataclass
class Useful:
    """Of one repeat."""

    mean: float  # over ranks, seconds
    most: float
    total: float
    packing: float  # the part of `total` that packs
    wall: float  # of the slowest rank


@dataclass
class Pop:
    """Fractions of 1. `computation` and `overall` are None at points of another kind than the baseline's, or where work is unknown;
    `serialisation`, which is a bound from above, and `transfer`, from below, where there is no run with backend null."""

    load_balance: Estimate
    communication: Estimate
    parallel: Estimate
    computation: Estimate | None  # computational scalability
    overall: Estimate | None  # global efficiency
    packing: float  # part of the useful time
    serialisation: Estimate | None
    transfer: Estimate | None

    @property
    def words(self) -> str:
        """What takes most."""
        parts = {"load balance": self.load_balance.value, "communication": self.communication.value}
        if self.computation:
            parts["computational scalability"] = self.computation.value
        least = min(parts, key=parts.get)
        return least if parts[least] < 0.95 else ""


def useful_times(record: Record) -> list[Useful]:
    """Of each repeat; empty if the record has no seconds of ranks, or they are no useful time. Packing is useful, and is told apart."""
    table = record.per_rank
    if not table or not table.get("useful", 1) or not table.get("seconds"):
        return []
    useful, packs = ([kind in wanted for kind in map(record.kind, table["regions"])] for wanted in (USEFUL, (PACKING,)))
    found = []
    for of_ranks, wall in zip(table["seconds"], table["wall"]):
        seconds = np.array(of_ranks, dtype=float)
        of_rank = seconds[:, useful].sum(axis=1)
        if of_rank.size and max(wall) > 0 and of_rank.max() > 0:
            found.append(Useful(float(of_rank.mean()), float(of_rank.max()), float(of_rank.sum()), float(seconds[:, packs].sum()), max(wall)))
    return found


def why_none(record: Record) -> str:
    if record.per_rank and not record.per_rank.get("useful", 1):
        return "kernels ran on a GPU, where regions have the time of launches"
    return "the record has no seconds of each rank"


def pop_of(point: Point, base: Point, null: Point | None = None) -> Pop | None:
    """Of the runs of a point: each fraction is the median over the repeats of a run, then over runs. `null` is the same with backend null."""
    runs = _runs(point)
    if not runs:
        return None
    balance = [[one.mean / one.most for one in run] for run in runs]
    exchange = [[one.most / one.wall for one in run] for run in runs]
    parallel = [[one.mean / one.wall for one in run] for run in runs]
    computation, overall = None, None
    base_runs = _runs(base)
    work, base_work = work_of(point), work_of(base)
    if base_runs and work and base_work:
        mine, other = ([[one.total / amount for one in run] for run in side] for side, amount in ((runs, work), (base_runs, base_work)))
        scalability = _exact() if point is base else estimate(lambda a, b: b / a, _sample(mine), _sample(other))
        computation = scalability
        efficiency = _of(parallel)
        overall = Estimate(efficiency.value * scalability.value) if not efficiency.known or not scalability.known else estimate(
            lambda a, b, c: a if point is base else a * c / b, _sample(parallel), _sample(mine), _sample(other))
    serialisation, transfer = None, None
    if null and null.sample:
        serialisation = estimate(lambda a, b: a / b, _sample([[one.most for one in run] for run in runs]), null.sample)
        transfer = estimate(lambda a, b: a / b, null.sample, _sample([[one.wall for one in run] for run in runs]))
    return Pop(_of(balance), _of(exchange), _of(parallel), computation, overall,
               median([one.packing / one.total for run in runs for one in run]), serialisation, transfer)


def _runs(point: Point) -> list[list[Useful]]:
    return [times for record in point.records if (times := useful_times(record))]


def _sample(runs: list[list[float]]) -> list[float]:
    return runs[0] if len(runs) == 1 else [median(run) for run in runs]


def _of(runs: list[list[float]]) -> Estimate:
    return estimate(lambda a: a, _sample(runs))


def _exact() -> Estimate:
    return Estimate(1.0, 1.0, 1.0)

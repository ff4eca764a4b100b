# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""POP metrics of a point, from the seconds of each rank. docs/reference/metrics.md has the definitions and their sources."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .record import PACKING, WORK, Record
from .scaling import work_of
from .statistics import Estimate, estimate, median, median_of, ratio
from .study import Point

USEFUL = (WORK, PACKING)
EXACT = Estimate(1.0, 1.0, 1.0)


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
    balance, exchange, parallel = (_sample(runs, what) for what in (lambda one: one.mean / one.most, lambda one: one.most / one.wall,
                                                                    lambda one: one.mean / one.wall))
    computation, overall = None, None
    base_runs, work, base_work = _runs(base), work_of(point), work_of(base)
    if base_runs and work and base_work:
        mine, other = _sample(runs, lambda one: one.total / work), _sample(base_runs, lambda one: one.total / base_work)
        computation = EXACT if point is base else ratio(other, mine)
        overall = estimate(lambda a, b, c: a if point is base else a * c / b, parallel, mine, other)
        if not median_of(parallel).known or not computation.known:
            overall = Estimate(overall.value)
    serialisation, transfer = None, None
    if null and null.sample:
        serialisation = ratio(_sample(runs, lambda one: one.most), null.sample)
        transfer = ratio(null.sample, _sample(runs, lambda one: one.wall))
    return Pop(median_of(balance), median_of(exchange), median_of(parallel), computation, overall,
               median([one.packing / one.total for run in runs for one in run]), serialisation, transfer)


def _runs(point: Point) -> list[list[Useful]]:
    return [times for record in point.records if (times := useful_times(record))]


def _sample(runs: list[list[Useful]], what: Callable[[Useful], float]) -> list[float]:
    """Of one run each repeat, of several the median of each."""
    values = [list(map(what, run)) for run in runs]
    return values[0] if len(runs) == 1 else list(map(median, values))

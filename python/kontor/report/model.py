# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Useful time of ranks: all but regions of the kind communication. The fractions of POP are ratios of it to the seconds
of a repeat. docs/reference/metrics.md has the definitions and their sources."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .record import Record
from .scaling import work_of
from .statistics import Estimate, estimate, median, median_of, ratio
from .study import Point

EXACT = Estimate(1.0, 1.0, 1.0)
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

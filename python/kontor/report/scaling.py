# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is computed of a point of a study relative to the baseline of its series: speed-up, efficiency, and the
efficiencies of POP by the useful time of ranks, which is all but regions of the kind communication.

docs/reference/metrics.md has the definitions and their sources.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .rates import Rate
from .record import Record
from .series import SIZES, Series, count_of, name_of
from .statistics import Estimate, estimate, median, median_of, ratio
from .study import Point
from .traffic import totals

SUPERLINEAR = 1.02  # an efficiency whose whole interval lies above needs an explanation
UNEVEN = 0.01  # relative, of work that is not what it should be
EXACT = Estimate(1.0, 1.0, 1.0)
LEAST = 0.95  # an efficiency above it limits nothing


class Useful(NamedTuple):
    """Of one repeat."""

    mean: float  # over ranks, seconds
    most: float
    total: float
    packing: float  # the part of `total` that packs
    wall: float  # of the slowest rank


@dataclass
class Pop:
    """Fractions of 1. `computation` and `overall` are None where work is unknown."""

    load_balance: Estimate
    communication: Estimate
    parallel: Estimate
    packing: float
    computation: Estimate | None = None  # computational scalability
    overall: Estimate | None = None  # global efficiency

    @property
    def lowest(self) -> str | None:
        """The factor of the global efficiency that is lowest, if one limits it."""
        parts = {"load balance": self.load_balance, "communication efficiency": self.communication,
                 "computational scalability": self.computation or EXACT}
        name, value = min(parts.items(), key=lambda part: part[1].value)
        return f"{name} {value.value:.2f}" if value.value < LEAST else None


@dataclass
class Scaled:
    """A point and the baseline of its series."""

    series: Series
    point: Point
    weak: bool  # the problem grows with the number of workers

    @property
    def where(self) -> str:
        return f"{self.series.name}, {count_of(self.point)}"

    @property
    def without_size(self) -> str:
        """What it is but for the size of the problem: a number among its factors."""
        others = {key: value for key, value in self.point.factors.items() if key not in SIZES
                  and (isinstance(value, str) or not key.startswith("problem."))}
        return f"{name_of(others, self.point)}, {count_of(self.point)}"

    @cached_property
    def time(self) -> Estimate:
        return median_of(self.point.sample)

    @property
    def growth(self) -> float:
        """Workers relative to the baseline's."""
        return self.point.workers / self.series.base.workers

    @property
    def work(self) -> float:
        """Done in a repeat, relative to the baseline's; as it should be where the records do not say."""
        own, base = work_of(self.point), work_of(self.series.base)
        return own / base if own and base else self.growth if self.weak else 1.0

    @cached_property
    def speedup(self) -> Estimate:
        """Strong: T0 / T; weak: scaled, growth * T0 / T."""
        return relative(self.series.base, self.point, self.growth if self.weak else 1.0)

    @cached_property
    def efficiency(self) -> Estimate:
        return relative(self.series.base, self.point, 1.0 if self.weak else 1 / self.growth)

    @cached_property
    def by_work(self) -> Estimate | None:
        """The efficiency by the work of a worker, where that does not stay as it is."""
        return relative(self.series.base, self.point, self.work / self.growth) if self.weak and self.is_uneven else None

    @property
    def is_uneven(self) -> bool:
        return abs(self.work / (self.growth if self.weak else 1) - 1) > UNEVEN

    @cached_property
    def rate(self) -> Rate:
        return Rate(self.where, self.point.records)

    @cached_property
    def totals(self) -> tuple[int, int, int | None]:
        return totals(self.point.records[0])

    @cached_property
    def pop(self) -> Pop | None:
        return pop_of(self.point, self.series.base)

    @property
    def lowest(self) -> str | None:
        """Of POP's factors; None where runs were disturbed, since any factor may be due to that."""
        return self.pop.lowest if self.pop and not self.point.disturbed else None

    @property
    def warnings(self) -> list[str]:
        found = []
        if self.growth > 1 and (self.efficiency.low or self.efficiency.value) > SUPERLINEAR:
            found.append(f"{self.where}: superlinear, efficiency {self.efficiency.value:.2f} of "
                         f"{self.series.base_name}: a cache that the problem begins to fit in, or a slow baseline")
        if self.is_uneven and self.weak:
            found.append(f"{self.where}: the work of a worker is {self.work / self.growth:.2f} of the baseline's: see "
                         "efficiency by work")
        elif self.is_uneven:
            found.append(f"{self.where}: the work is {self.work:.2f} of the baseline's, so the problems are different")
        return found


def relative(base: Point, point: Point, factor: float = 1.0) -> Estimate:
    """factor * T0 / T; exactly the factor at the baseline itself."""
    return Estimate(factor, factor, factor) if point is base else ratio(base.sample, point.sample, factor)


def work_of(point: Point) -> float | None:
    """What a repeat does, in the unit of the figure of merit: rate times seconds. None if that is no rate."""
    for record in point.records:
        if record.figure and record.seconds:
            is_rate = record.figure.get("unit", "").endswith("/s")
            return float(record.figure["value"] * record.seconds) if is_rate else None
    return None


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


def pop_of(point: Point, base: Point) -> Pop | None:
    """Each fraction is the median over the repeats of a run, then over runs."""
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
    return found


def _runs(point: Point) -> list[list[Useful]]:
    return [times for record in point.records if (times := useful_times(record))]


def _sample(runs: list[list[Useful]], what: Callable[[Useful], float]) -> list[float]:
    """Of one run each repeat, of several the median of each."""
    values = [list(map(what, run)) for run in runs]
    return values[0] if len(runs) == 1 else list(map(median, values))

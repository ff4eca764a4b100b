# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The points of a study as series: those that differ in how many workers they have, and in nothing else. Which of two
series is faster; and of each point relative to the baseline of its series speed-up, efficiency, and the efficiencies of
POP by the useful time of ranks, which is all but regions of the kind communication.

docs/reference/metrics.md has the definitions and their sources.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .deck import phrase
from .rates import Rate
from .record import Record, Row
from .statistics import Array, Difference, Estimate, difference, estimate, median_of, ratio
from .study import Point, Study
from .text import counted, grouped

SIZES = ("ranks", "nodes", "threads", "gpus", "ranks_per_node")  # factors that say how many workers there are
DECK = "deck"  # two of them are two problems, whose times say nothing of each other
BACKEND = "comm.backend"
UNEVEN = 0.01  # relative, of work that is not what it should be
EXACT = Estimate(1.0, 1.0, 1.0)
LEAST = 0.95  # an efficiency above it limits nothing


@dataclass(eq=False)
class Series:
    name: str  # by what else differs in the study: "view, overlap on"
    factors: Row
    points: list[Point]  # by number of workers, each number once
    base: Point  # the baseline: the one of the study's file, or that with fewest workers

    @property
    def base_name(self) -> str:
        return f"{count_of(self.base)} ({self.base.id})"

    def at(self, workers: int) -> Point | None:
        return next((point for point in self.points if point.workers == workers), None)


def count_of(point: Point) -> str:
    """'4 ranks', '2 GPUs', '4 ranks x 2 threads'."""
    if point.gpus:
        return counted(point.gpus, "GPU")
    return counted(point.ranks, "rank") + (f" x {counted(point.threads, 'thread')}" if point.threads > 1 else "")


def series_of(study: Study) -> list[Series]:
    """In the order in which the study has them, but that the baseline's is the first."""
    others = {point: {key: value for key, value in point.factors.items() if key not in SIZES}
              for point in study.measured}
    keys = dict.fromkeys(key for factors in others.values() for key in factors)
    differ = {key for key in keys if len({str(factors.get(key)) for factors in others.values()}) > 1}
    found = []
    for points in grouped(others, lambda point: str(sorted(others[point].items()))).values():
        points.sort(key=lambda point: point.id, reverse=True)
        ordered = [point for _, point in sorted({point.workers: point for point in points}.items())]
        sizes = {key: value for key, value in study.baseline.items() if key in SIZES}
        base = next((point for point in ordered if all(getattr(point, key, point.factors.get(key)) == value
                                                       for key, value in sizes.items())), ordered[0])
        factors = {key: value for key, value in others[base].items() if key in differ}
        found.append(Series(name_of(factors, base), factors, ordered, base))
    return sorted(found, key=lambda one: any(one.factors.get(key, value) != value
                                             for key, value in study.baseline.items() if key not in SIZES))


def name_of(factors: Row, point: Point) -> str:
    """The backend comes first; where nothing differs, it is the backend that the run has used."""
    keys = sorted(factors, key=lambda key: key != BACKEND)
    words = [Path(str(factors[key])).stem if key == DECK else phrase(key, factors[key]) for key in keys]
    return ", ".join(words) or point.records[0].run.get("backend", "all")


class Compared(NamedTuple):
    """Two series, which differ in one factor, at a number of workers."""

    one: Series
    other: Series  # which the times of `one` are relative to
    point: Point
    its: Point
    difference: Difference


def compare(one: Series, other: Series) -> list[Compared]:
    """At the numbers of workers that both have."""
    return [Compared(one, other, point, its, difference(point.sample, its.sample))
            for point in one.points if (its := other.at(point.workers))]


def compared_by(series: list[Series], key: str) -> list[list[Compared]]:
    """Of each pair that differs in `key` only; the later one relative to the earlier one."""
    pairs = itertools.combinations([one for one in series if key in one.factors], 2)
    return [found for other, one in pairs if {**one.factors, key: None} == {**other.factors, key: None}
            and (found := compare(one, other))]


class Useful(NamedTuple):
    """Of each repeat of a run."""

    mean: Array  # over ranks, seconds
    most: Array
    total: Array
    packing: Array  # the part of `total` that packs
    wall: Array  # of the slowest rank


class Pop(NamedTuple):
    """Fractions of 1. `computation` and `overall` are None where work is unknown."""

    load_balance: Estimate
    communication: Estimate
    parallel: Estimate
    packing: float
    computation: Estimate | None  # computational scalability
    overall: Estimate | None  # global efficiency


@dataclass
class Scaled:
    """A point and the baseline of its series."""

    series: Series
    point: Point
    weak: bool  # the problem grows with the number of workers

    @property
    def where(self) -> str:
        return f"{self.series.name}, {count_of(self.point)}"

    @cached_property
    def time(self) -> Estimate:
        return median_of(self.point.sample)

    @property
    def growth(self) -> float:
        """Workers relative to the baseline's."""
        return self.point.workers / self.series.base.workers

    @property
    def work(self) -> float:
        """Of a worker in a weak series, else in all, relative to the baseline's; 1 where the records do not say."""
        own, base = work_of(self.point), work_of(self.series.base)
        return own / base / (self.growth if self.weak else 1) if own and base else 1.0

    @cached_property
    def efficiency(self) -> Estimate:
        return self._relative(1.0 if self.weak else 1 / self.growth)

    @cached_property
    def speedup(self) -> Estimate:
        """Strong: T0 / T; weak: scaled, growth * T0 / T."""
        return self._relative(self.growth if self.weak else 1.0)

    def _relative(self, factor: float) -> Estimate:
        """factor * T0 / T; exactly the factor at the baseline itself."""
        base = self.series.base
        return Estimate(factor, factor, factor) if self.point is base else ratio(base.sample, self.point.sample, factor)

    @cached_property
    def rate(self) -> Rate:
        return Rate(self.where, self.point.records)

    @cached_property
    def pop(self) -> Pop | None:
        return pop_of(self.point, self.series.base)

    @property
    def lowest(self) -> str | None:
        """The lowest factor of the global efficiency, if one limits it. None where runs were disturbed: any factor may
        be due to that."""
        if not self.pop or self.point.disturbed:
            return None
        parts = {"load balance": self.pop.load_balance, "communication efficiency": self.pop.communication,
                 "computational scalability": self.pop.computation or EXACT}
        name, value = min(parts.items(), key=lambda part: part[1].value)
        return f"{name} {value.value:.2f}" if value.value < LEAST else None

    @property
    def warning(self) -> str:
        """Of problems that are not what they should be, else empty."""
        if abs(self.work - 1) <= UNEVEN:
            return ""
        which, says = ((" of a worker", ": the efficiency by work is that times this") if self.weak
                       else ("", ", so the problems are different"))
        return f"{self.where}: the work{which} is {self.work:.2f} of the baseline's{says}"


def work_of(point: Point) -> float | None:
    """What a repeat does, in the unit of the figure of merit: rate times seconds. None if that is no rate."""
    record = point.records[0]
    is_rate = record.figure.get("unit", "").endswith("/s")
    return float(record.figure["value"] * record.seconds) if is_rate and record.seconds else None


def useful_times(record: Record) -> Useful | None:
    """None where kernels ran on a GPU, whose regions have the time of launches, or nothing was timed."""
    if not record.per_rank.get("useful") or not record.per_rank["seconds"]:
        return None
    kinds = [record.kind(region) for region in record.per_rank["regions"]]
    seconds, walls = (np.array(record.per_rank[key], dtype=float) for key in ("seconds", "wall"))
    useful = seconds[:, :, [kind != "communication" for kind in kinds]].sum(axis=2)
    packing = seconds[:, :, [kind == "packing" for kind in kinds]].sum(axis=(1, 2))
    found = Useful(useful.mean(axis=1), useful.max(axis=1), useful.sum(axis=1), packing, walls.max(axis=1))
    return found if found.most.all() and found.wall.all() else None


def pop_of(point: Point, base: Point) -> Pop | None:
    """Each fraction is the median over the repeats of a run, then over runs."""
    runs, base_runs, work, base_work = _runs(point), _runs(base), work_of(point), work_of(base)
    if not runs:
        return None
    computation = overall = None
    parallel = _sample(runs, lambda one: one.mean / one.wall)
    if base_runs and work and base_work:
        mine, other = (_sample(of, lambda one: one.total) for of in (runs, base_runs))
        growth = work / base_work
        computation = EXACT if point is base else ratio(other, mine, growth)
        overall = estimate(lambda a, b, c: a if point is base else growth * a * c / b, parallel, mine, other)
    return Pop(median_of(_sample(runs, lambda one: one.mean / one.most)),
               median_of(_sample(runs, lambda one: one.most / one.wall)), median_of(parallel),
               float(np.median(_sample(runs, lambda one: one.packing / one.total))), computation, overall)


def _runs(point: Point) -> list[Useful]:
    return [times for record in point.records if (times := useful_times(record))]


def _sample(runs: list[Useful], what: Callable[[Useful], Array]) -> list[float]:
    """Of one run each repeat, of several the median of each."""
    return list(what(runs[0])) if len(runs) == 1 else [float(np.median(what(run))) for run in runs]

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The points of a study as series: those that differ in how many workers they have, and in nothing else. And which of
two series is faster at which number of workers, and where that changes."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .deck import phrase
from .record import Row
from .statistics import Difference, difference
from .study import Point, Study
from .text import counted, grouped

SIZES = ("ranks", "nodes", "threads", "gpus", "ranks_per_node")  # factors that say how many workers there are
DECK = "deck"  # two of them are two problems, whose times say nothing of each other


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
    sizes = {key: value for key, value in study.baseline.items() if key in SIZES}
    keys = {key for point in study.measured for key in _others(point)}
    differ = {key for key in keys if len({str(point.factors.get(key)) for point in study.measured}) > 1}
    found = []
    for points in grouped(study.measured, lambda point: str(sorted(_others(point).items()))).values():
        points.sort(key=lambda point: point.id, reverse=True)
        ordered = [point for _, point in sorted({point.workers: point for point in points}.items())]
        factors = {key: value for key, value in _others(ordered[0]).items() if key in differ}
        base = next((point for point in ordered if all(point.factors.get(key, getattr(point, key, None)) == value
                                                       for key, value in sizes.items())), ordered[0])
        found.append(Series(name_of(factors, ordered[0]), factors, ordered, base))
    return sorted(found, key=lambda one: not _has_baseline(study, one))


def _has_baseline(study: Study, one: Series) -> bool:
    return all(one.factors.get(key, value) == value for key, value in study.baseline.items() if key not in SIZES)


def _others(point: Point) -> Row:
    return {key: value for key, value in point.factors.items() if key not in SIZES}


def name_of(factors: Row, point: Point) -> str:
    """The backend comes first; where nothing differs, it is the backend that the run has used."""
    words = [str(factors[key]).removeprefix("inputs/").removesuffix(".yaml") if key == DECK else phrase(key, factors[key])
             for key in sorted(factors, key=lambda key: bool(key != "comm.backend"))]
    return ", ".join(words) or point.records[0].run.get("backend", "all")


class Compared(NamedTuple):
    """Two series, which differ in one factor, at a number of workers."""

    one: Series
    other: Series  # which the times of `one` are relative to
    workers: int
    times: tuple[Sequence[float], Sequence[float]]
    difference: Difference


def compare(one: Series, other: Series) -> list[Compared]:
    """At the numbers of workers that both have."""
    shared = [(point, its) for point in one.points if (its := other.at(point.workers))]
    return [Compared(one, other, mine.workers, (mine.sample, its.sample), difference(mine.sample, its.sample))
            for mine, its in shared]


def compared_by(series: list[Series], key: str) -> list[list[Compared]]:
    """Of each pair that differs in `key` only; the later one relative to the earlier one."""
    pairs = itertools.combinations([one for one in series if key in one.factors], 2)
    return [found for other, one in pairs if {**one.factors, key: None} == {**other.factors, key: None}
            and (found := compare(one, other))]


def crossings(compared: list[Compared]) -> list[str]:
    """Where neighbours both differ significantly, in other directions: near the number of workers where the ratio would
    be 1, by interpolation of logarithms."""
    told = []
    for before, after in itertools.pairwise(compared):
        if before.difference.significant and after.difference.significant:
            a, b = math.log(before.difference.ratio.value), math.log(after.difference.ratio.value)
            if a * b < 0:
                below, above = (before.one, before.other) if a < 0 else (before.other, before.one)
                at = before.workers * (after.workers / before.workers) ** (a / (a - b))
                told.append(f"{below.name} is faster on {before.workers} and {above.name} on {after.workers} workers: "
                            f"their times are equal near {at:.3g}.")
    return told

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The points of a study as series: those that differ in how many workers they have, and in nothing else. And which of
two series is faster at which number of workers, and where that changes."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .colours import colours, level, lines_of
from .record import Row
from .report_parts import Bar, Chart, Part, Section, Table
from .statistics import LEVEL, Estimate, interval, median_of, rank_sum_probability, ratio
from .study import Point, Study
from .text import counted, grouped, on_off, seconds, spaced

SIZES = ("ranks", "nodes", "threads", "gpus", "ranks_per_node")  # factors that say how many workers there are
DECK = "deck"  # two of them are two problems, whose times say nothing of each other
CLEAR = ("comm.backend", "comm.pattern", "solver.method")  # factors whose value alone says it


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


def points_of(series: list[Series]) -> list[tuple[Series, Point]]:
    """Each point, with the series that it is of."""
    return [(one, point) for one in series for point in one.points]


def rows_of(series: list[Series], cells: Callable[[Series, Point], Sequence[object] | None]) -> list[list[object]]:
    """Rows of a table: series, workers, and the cells of each point that has some."""
    return [[one.name, count_of(point), *found] for one, point in points_of(series) if (found := cells(one, point))]


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


def baseline_of(study: Study, series: list[Series]) -> Point | None:
    """The one point that the study's file names, if it names one of a series and not just its size."""
    named = [one for one in series if _has_baseline(study, one)]
    return named[0].base if len(named) == 1 and len(series) > 1 and not study.baseline.keys() <= set(SIZES) else None


def _has_baseline(study: Study, one: Series) -> bool:
    return all(one.factors.get(key, value) == value for key, value in study.baseline.items() if key not in SIZES)


def _others(point: Point) -> Row:
    return {key: value for key, value in point.factors.items() if key not in SIZES}


def name_of(factors: Row, point: Point) -> str:
    """The backend comes first; where nothing differs, it is the backend that the run has used."""
    words = [_word(key, factors[key]) for key in sorted(factors, key=lambda key: bool(key != "comm.backend"))]
    return ", ".join(words) or point.records[0].run.get("backend", "all")


def _word(key: str, value: object) -> str:
    if key in CLEAR:
        return str(value)
    if key == "deck":
        return str(value).removeprefix("inputs/").removesuffix(".yaml")
    return f"{spaced(key.rpartition('.')[2])} {on_off(value) if isinstance(value, bool) else value}"


class Compared(NamedTuple):
    workers: int
    ratio: Estimate  # time of the second over time of the first: above 1 the first is faster
    chance: float  # probability of ranks as different as these if nothing differed

    @property
    def significant(self) -> bool:
        """Both ways of looking at it must say so: the interval alone says it too soon where there are few runs."""
        return self.ratio.excludes(1) and self.chance < 1 - LEVEL


def pairs(series: list[Series], key: str = "comm.backend") -> list[tuple[Series, Series]]:
    """Those that differ in `key` only."""
    return [(one, other) for one, other in itertools.combinations([one for one in series if key in one.factors], 2)
            if {**one.factors, key: None} == {**other.factors, key: None}]


def compare(one: Series, other: Series) -> list[Compared]:
    """At the numbers of workers that both have."""
    shared = [(point, its) for point in one.points if (its := other.at(point.workers))]
    return [Compared(mine.workers, ratio(its.sample, mine.sample), rank_sum_probability(its.sample, mine.sample))
            for mine, its in shared]


def crossings(compared: list[Compared]) -> list[tuple[Compared, Compared, float]]:
    """The neighbours between which times cross, where the intervals of both say so: equal times cross anywhere. And the
    number of workers where the ratio would be 1, by interpolation of logarithms."""
    found = []
    for before, after in itertools.pairwise(compared):
        a, b = math.log(before.ratio.value), math.log(after.ratio.value)
        if a * b < 0 and before.ratio.excludes(1) and after.ratio.excludes(1):
            found.append((before, after, before.workers * (after.workers / before.workers) ** (a / (a - b))))
    return found


def crossing_words(one: Series, other: Series, found: list[Compared], certain: bool = False) -> list[str]:
    """`certain`: only where both sides of a crossing are significant."""
    told = []
    for before, after, at in crossings(found):
        below, above = (one, other) if before.ratio.value > 1 else (other, one)
        significant = before.significant and after.significant
        though = "" if significant else ", though not both differences are significant"
        if significant or not certain:
            told.append(f"{below.name} is faster on {before.workers} and {above.name} on {after.workers} workers: "
                        f"they cross near {at:.3g}{though}.")
    return told


def crossover_sections(series: list[Series]) -> list[Section]:
    keys = dict.fromkeys(key for one in series for key in one.factors if key != DECK)
    compared = {key: [(one, other, found) for one, other in pairs(series, key) if (found := compare(one, other))]
                for key in sorted(keys, key=lambda key: key != "comm.backend")}
    return [_compared_section(key, found) for key, found in compared.items() if found]


def _compared_section(key: str, compared: list[tuple[Series, Series, list[Compared]]]) -> Section:
    text = (f"The same points with another {key}: the second time over the first. One is faster if the interval does "
            "not hold 1 and the rank test gives less than 5 %, which takes four runs of each.")
    rows = [[one.name, other.name, row.workers,
             *(interval(median_of(point.sample), seconds) for side in (one, other) if (point := side.at(row.workers))),
             interval(row.ratio, "{:.3f}".format),
             (one if row.ratio.value > 1 else other).name if row.significant else None]
            for one, other, found in compared for row in found]
    table = Table(["first", "second", "workers", "first's time", "second's time", "ratio", "faster"], rows, 2, last=1)
    words: list[Part] = [word for one, other, found in compared for word in crossing_words(one, other, found)]
    if any(len(found) > 1 for _, _, found in compared):
        lines = lines_of([(f"{other.name} / {one.name}", [(row.workers, row.ratio) for row in found])
                          for one, other, found in compared])
        chart = Chart("Ratio of times: above 1 the first is faster", "workers", "ratio",
                      [*lines, level("equal", 1.0, lines)], log_x=True, log_y=True)
    else:
        times = {one.name: median_of(one.base.sample) for pair in compared for one in pair[:2]}
        bars = [Bar(name, [(name, time.value)], interval(time, seconds)) for name, time in times.items()]
        chart = Chart("Time of a repeat", "time", bars=bars, unit="s", colours=colours(times))
    return Section("Backends" if key == "comm.backend" else f"{key} compared", [text, table, *words, chart])

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The points of a study as series: those that differ in how many workers they have, and in nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .record import Row
from .study import Point, Study
from .text import counted, grouped, on_off, spaced

SIZES = ("ranks", "nodes", "threads", "gpus", "ranks_per_node")  # factors that say how many workers there are
CLEAR = ("comm.backend", "comm.pattern", "solver.method", "product.algorithm")  # factors whose value alone says it


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

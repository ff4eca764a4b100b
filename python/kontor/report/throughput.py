# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figure of merit over the problem's size of runs that differ in it."""

import math
from collections.abc import Sequence

from .colours import lines_of
from .deck import settings
from .record import Record
from .report_parts import Chart, Section, tabulated
from .series import SIZES, count_of, name_of
from .statistics import median_of
from .study import Study
from .text import grouped, quantity, spaced


def size_of(record: Record) -> tuple[float, str] | None:
    """Bytes of all ranks' data, else cells or rows; None if the record does not say it."""
    for value in (record.run.get("field_memory"), record.memory.get("views"), record.matrix.get("bytes")):
        if value:
            return float(value), "B"
    if rows := record.matrix.get("rows"):
        return float(rows), "rows"
    words = settings(record).get("problem.cells", "").strip("[]").split(",")
    return (float(math.prod(map(int, words))), "cells") if all(word.strip().isdigit() for word in words) else None


def throughput_of_runs(records: Sequence[Record]) -> list[Section]:
    """A series for runs that differ in nothing but the deck's problem and size."""
    names = [", ".join([*(str(record.run[key]) for key in ("backend", "pattern") if key in record.run),
                        f"{record.run.get('ranks', '?')} ranks"]) for record in records]
    return _sections([(name, [record]) for name, record in zip(names, records)])


def throughput_of_study(study: Study) -> list[Section]:
    named = []
    for point in study.measured:
        others = {key: value for key, value in point.factors.items()
                  if key not in SIZES and (isinstance(value, str) or not key.startswith("problem."))}  # words are no sizes
        named.append((f"{name_of(others, point)}, {count_of(point)}", point.records))
    return _sections(named)


def _sections(named: Sequence[tuple[str, list[Record]]]) -> list[Section]:
    """Only of series with several sizes, of one figure and one unit of size."""
    runs = [(name, *size, [record.figure for record in records if record.figure]) for name, records in named
            if (size := size_of(records[0])) and any(record.figure for record in records)]
    series = {name: of for name, of in grouped(runs, lambda run: run[0]).items() if len({run[1] for run in of}) > 1}
    figures = {(figure["name"], figure.get("unit", ""), of_size) for _, _, of_size, found in runs for figure in found}
    if not series or len(figures) != 1:
        return []
    ((figure, unit, size_unit),) = figures
    points = [(name, sorted(((size, median_of([one["value"] for one in found])) for _, size, _, found in of),
                            key=lambda point: point[0])) for name, of in series.items()]
    rows = [[name, quantity(size, size_unit), quantity(value.value, unit)] for name, found in points
            for size, value in found]
    chart = Chart(f"{spaced(figure).capitalize()} over size", f"size of the problem, {size_unit}", spaced(figure),
                  lines_of(points), log_x=True, unit=unit, x_unit=size_unit, from_zero=True)
    return tabulated("Throughput over size", ["series", "size", spaced(figure)], rows, chart)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figure of merit over the problem's size of runs that differ in it."""

import math
from collections.abc import Sequence

from .colours import lines_of
from .deck import settings
from .record import Record
from .report_parts import Chart, Section, Table
from .series import SIZES, count_of, name_of
from .statistics import Estimate, median_of
from .study import Study
from .text import grouped, quantity

Measured = tuple[str, float, str, Estimate]  # series, size, its unit, figure of merit


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
    measured: list[Measured] = []
    for record in records:
        size, run = size_of(record), record.run
        if size and record.figure:
            name = ", ".join(str(run[key]) for key in ("backend", "pattern") if key in run) + f", {run.get('ranks', '?')} ranks"
            measured.append((name, *size, Estimate(record.figure["value"])))
    return _section(measured, records)


def throughput_of_study(study: Study) -> list[Section]:
    measured: list[Measured] = []
    records = []
    for point in study.measured:
        size = size_of(point.records[0])
        values = [record.figure["value"] for record in point.records if record.figure]
        if size and values:
            others = {key: value for key, value in point.factors.items() if key not in SIZES and not key.startswith("problem.")}
            name = f"{name_of(others, point)}, {count_of(point)}"
            measured.append((name, *size, median_of(values)))
            records.append(point.records[0])
    return _section(measured, records)


def _section(measured: list[Measured], records: Sequence[Record]) -> list[Section]:
    """Only of series with several sizes, of one figure and one unit of size."""
    figures = {(record.figure["name"], record.figure.get("unit", "")) for record in records if record.figure}
    series = {name: rows for name, rows in grouped(measured, lambda row: row[0]).items() if len({row[1] for row in rows}) > 1}
    if not series or len(figures) != 1 or len({row[2] for row in measured}) != 1:
        return []
    (figure, unit), size_unit = figures.pop(), measured[0][2]
    points = [(name, sorted(((row[1], row[3]) for row in rows), key=lambda point: point[0])) for name, rows in series.items()]
    rows = [[name, quantity(size, size_unit), quantity(value.value, unit)] for name, found in points for size, value in found]
    lines = lines_of(points)
    what = figure.replace("_", " ")
    chart = Chart(f"{what.capitalize()} over size", f"size of the problem, {size_unit}", what, lines, log_x=True, unit=unit, x_unit=size_unit,
                  from_zero=True)
    return [Section("Throughput over size", [Table(["series", "size", what], rows), chart])]

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Roofline: the rate of runs over their arithmetic intensity, under the ceilings that the runs themselves measured.
Work is in the unit of the figure of merit: flop, or updates where an app counts these. And the figure of merit over the
problem's size, of runs that differ in it.

S. Williams, A. Waterman, D. Patterson, Roofline, Communications of the ACM 52(4), 2009.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from .colours import OTHER, colours, lines_of
from .deck import names_of, settings
from .record import Record
from .report_parts import Chart, Line, Section, tabulated
from .series import SIZES, count_of, name_of
from .statistics import median_of
from .study import Study
from .text import grouped, percent, quantity, spaced

MOST_NAMES = 12  # of runs in the picture


class Place(NamedTuple):
    """Where a run is in the picture."""

    name: str
    unit: str  # of work: flop
    intensity: float  # work per byte
    rate: float  # work/s
    roof: float | None  # work/s that the record calls attainable
    ceilings: dict[str, float]  # B/s by name: what the roof stands for, and memory
    peak: float  # work/s of matrix products, 0 if not measured


def place_of(record: Record, name: str) -> Place | None:
    """None if the record does not give the work of a repeat and the bytes that it moves."""
    for figure in record.figures:
        unit, moved = figure.get("unit", ""), figure.get("bytes_read", 0) + figure.get("bytes_written", 0)
        if moved and figure["value"] and record.seconds and unit.endswith("/s") and unit != "B/s":
            intensity, roof = figure["value"] * record.seconds / moved, figure.get("attainable")
            ceilings = {"attainable": roof / intensity if roof else 0.0,
                        "memory, triad": record.calibration.get("triad_bandwidth", 0.0)}
            gemm = record.calibration.get("gemm") if unit == "flop/s" else None
            peak = gemm.get("rate", 0.0) if isinstance(gemm, dict) else 0.0
            work = unit.removesuffix("/s").replace("1", "updates")
            return Place(name, work, intensity, figure["value"], roof, ceilings, peak)
    return None


def roofline_sections(records: Sequence[Record]) -> list[Section]:
    placed = [place for record, name in zip(records, names_of(records))
              if (place := place_of(record, name)) and any(place.ceilings.values())]
    sections = []
    for unit, places in grouped(placed, lambda place: place.unit).items():
        rows = [[place.name, f"{place.intensity:.3g}",
                 *(quantity(rate, f"{unit}/s") for rate in (place.rate, place.roof)),
                 percent(place.rate / place.roof if place.roof else None)] for place in places]
        header = ["run", f"{unit} per byte", "rate", "attainable", "fraction"]
        sections += tabulated("Roofline", header, rows, _roofline(unit, places))
    return sections


def _roofline(unit: str, places: list[Place]) -> Chart:
    across = [min(place.intensity for place in places) / 8, max(place.intensity for place in places) * 8]
    chosen = colours(place.name for place in places[:MOST_NAMES])
    lines = [Line(place.name, chosen[place.name], [place.intensity], [place.rate], points=True)
             for place in places[:MOST_NAMES]]
    for dash, name in enumerate(places[0].ceilings):
        if most := max(place.ceilings[name] for place in places):
            rates = [intensity * most for intensity in across]
            lines.append(Line(f"{name} {quantity(most, 'B/s')}", OTHER, across, rates, dash=dash, ideal=True))
    if peak := max(place.peak for place in places):
        lines.append(Line(f"matrix product {quantity(peak, 'flop/s')}", "#000000", across, [peak, peak], ideal=True))
    return Chart("Roofline", f"{unit} per byte", f"{unit}/s", lines, log_x=True, log_y=True, unit=f"{unit}/s")


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
    return _throughput([(name, [record]) for name, record in zip(names, records)])


def throughput_of_study(study: Study) -> list[Section]:
    named = []
    for point in study.measured:
        others = {key: value for key, value in point.factors.items()
                  if key not in SIZES and (isinstance(value, str) or not key.startswith("problem."))}  # words are no sizes
        named.append((f"{name_of(others, point)}, {count_of(point)}", point.records))
    return _throughput(named)


def _throughput(named: Sequence[tuple[str, list[Record]]]) -> list[Section]:
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

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rates of runs: over their arithmetic intensity, under the ceilings that the same runs measured (the roofline of
S. Williams, A. Waterman, D. Patterson, Communications of the ACM 52(4), 2009), and over the problem's size. Work is in
the unit of the figure of merit: flop, or updates where an app counts these.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .deck import settings
from .parts import OTHER, PALETTE, Chart, Line, colours, lines_of
from .record import Record, Row
from .statistics import Estimate, median, median_of, ratio
from .text import counted, grouped, quantity, spaced

MOST_NAMES = 12  # of runs in the picture


def main_figure(record: Record) -> Row:
    """The first figure that has the bytes of a repeat, else that has an attainable value, else the first."""
    figures = record.figures
    known = [figure for figure in figures if moved(figure)] or [each for each in figures if each.get("attainable")]
    return (known or figures or [{}])[0]


@dataclass
class Rate:
    """Of the runs of one point, or of one run: medians."""

    name: str
    records: Sequence[Record]

    @cached_property
    def figures(self) -> list[Row]:
        return list(filter(None, map(main_figure, self.records)))

    @property
    def figure(self) -> Row:
        return self.figures[0] if self.figures else {}

    @property
    def unit(self) -> str:
        return str(self.figure.get("unit", ""))

    @property
    def work(self) -> str:
        """The unit of work of a rate; empty if the figure is none of work."""
        known = self.unit.endswith("/s") and self.unit != "B/s"
        return self.unit.removesuffix("/s").replace("1", "updates") if known else ""

    def _values(self, key: str) -> list[float]:
        return [figure[key] for figure in self.figures if figure.get(key)]

    @cached_property
    def value(self) -> Estimate | None:
        return median_of(self._values("value")) if self._values("value") else None

    @property
    def attainable(self) -> float | None:
        return median(self._values("attainable")) if self._values("attainable") else None

    @cached_property
    def fraction(self) -> Estimate | None:
        """Of the two medians, so that the three agree."""
        return ratio(self._values("value"), self._values("attainable")) if self.attainable and self.value else None

    @property
    def intensity(self) -> float | None:
        """Work per byte."""
        found = [figure["value"] * record.seconds / moved(figure) for record in self.records
                 if record.seconds and moved(figure := main_figure(record))]
        return median(found) if found and self.work else None

    def ceiling(self, *keys: str) -> float:
        """Of the calibration of its runs; 0 if not measured."""
        found = []
        for record in self.records:
            value: object = record.calibration
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            found += [value] if isinstance(value, int | float) and value else []
        return median(found) if found else 0.0


def moved(figure: Row) -> float:
    """Bytes of a repeat."""
    return float(figure.get("bytes_read", 0) + figure.get("bytes_written", 0))


def roofline(rates: Sequence[Rate]) -> list[Chart]:
    """A chart for each unit of work. The ceilings are those of each number of ranks, in the colour of its points where
    there are several numbers."""
    charts = []
    placed = [rate for rate in rates if rate.intensity and rate.value and rate.ceiling("triad_bandwidth")]
    for work, all_of in grouped(placed, lambda rate: rate.work).items():
        some = all_of[:MOST_NAMES]
        by_ranks = grouped(some, lambda rate: int(rate.records[0].run.get("ranks", 1)))
        colour = {ranks: PALETTE[place % len(PALETTE)] for place, ranks in enumerate(sorted(by_ranks))}
        own, several = colours(rate.name for rate in some), len(by_ranks) > 1
        at = [rate.intensity or 1.0 for rate in some]
        across = [min(at) / 8, max(at) * 8]
        lines = [Line(rate.name, colour[ranks] if several else own[rate.name], [rate.intensity or 1.0],
                      [rate.value.value if rate.value else 0.0], points=True) for ranks, of in by_ranks.items() for rate in of]
        for ranks, of in sorted(by_ranks.items()):
            shade, on = (colour[ranks], f"{counted(ranks, 'rank')}: ") if several else (OTHER, "")
            memory = median([rate.ceiling("triad_bandwidth") for rate in of])
            lines.append(Line(f"{on}memory {quantity(memory, 'B/s')}", shade, across, [memory * x for x in across],
                              ideal=True))
            if work == "flop" and (peak := median([rate.ceiling("gemm", "rate") for rate in of])):
                lines.append(Line(f"{on}matrix product {quantity(peak, 'flop/s')}", shade, across, [peak, peak],
                                  dash=1, ideal=True))
        charts.append(Chart("Roofline", f"{work} per byte", f"{work}/s", lines, log_x=True, log_y=True,
                            unit=f"{work}/s"))
    return charts


def size_of(record: Record) -> tuple[float, str] | None:
    """Bytes of all ranks' data, else cells or rows; None if the record does not say it."""
    for value in (record.run.get("field_memory"), record.memory.get("views"), record.matrix.get("bytes")):
        if value:
            return float(value), "B"
    if rows := record.matrix.get("rows"):
        return float(rows), "rows"
    words = settings(record).get("problem.cells", "").strip("[]").split(",")
    return (float(math.prod(map(int, words))), "cells") if all(word.strip().isdigit() for word in words) else None


def over_size(named: Sequence[tuple[str, Rate]]) -> list[Chart]:
    """Rates over sizes: a line for each name that has several, of one figure and one unit of size."""
    points = [(name, *size, rate) for name, rate in named if rate.value and (size := size_of(rate.records[0]))]
    series = {name: of for name, of in grouped(points, lambda point: point[0]).items() if len({of[1] for of in of}) > 1}
    kinds = {(str(rate.figure["name"]), rate.unit, unit) for _, _, unit, rate in points}
    if not series or len(kinds) != 1:
        return []
    ((figure, unit, size_unit),) = kinds
    lines = lines_of([(name, sorted(((size, rate.value) for _, size, _, rate in of if rate.value), key=lambda at: at[0]))
                      for name, of in series.items()])
    return [Chart(f"{spaced(figure).capitalize()} over size", f"size of the problem, {size_unit}", spaced(figure), lines,
                  log_x=True, unit=unit, x_unit=size_unit, from_zero=True)]

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rates of runs: over their arithmetic intensity, under the ceilings that the same runs measured (the roofline of
S. Williams, A. Waterman, D. Patterson, Communications of the ACM 52(4), 2009). Work is in the unit of the figure of
merit: flop, or updates where an app counts these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .parts import OTHER, PALETTE, Chart, Line, colours
from .record import Record, Row
from .statistics import Estimate, median, median_of, ratio
from .text import counted, grouped, quantity

MOST_NAMES = 12  # of runs in the picture


@dataclass
class Rate:
    """Of the runs of one point, or of one run: medians of their main figures."""

    name: str
    records: Sequence[Record]

    @cached_property
    def figures(self) -> list[Row]:
        """Of each record the first with the bytes of a repeat, else with an attainable value, else the first."""
        return [max(record.figures, key=lambda figure: (bool(moved(figure)), bool(figure.get("attainable"))))
                for record in self.records if record.figures]

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
    def words(self) -> str | None:
        return self.value and self.value.shown(lambda value: quantity(value, self.unit))

    @property
    def attainable(self) -> float | None:
        return median(self._values("attainable")) if self._values("attainable") else None

    @cached_property
    def fraction(self) -> Estimate | None:
        """Of the two medians, so that the three agree."""
        return ratio(self._values("value"), self._values("attainable")) if self.attainable and self.value else None

    @property
    def intensity(self) -> float:
        """Work per byte; 0 if it is not known."""
        found = [figure["value"] * record.seconds / moved(figure) for record, figure in zip(self.records, self.figures)
                 if record.seconds and moved(figure)]
        return median(found) if found and self.work else 0.0

    @property
    def intensity_words(self) -> str | None:
        return f"{self.intensity:.3g}" if self.intensity else None

    @property
    def memory(self) -> float:
        """Bandwidth by the calibration of its runs; 0 if not measured."""
        return median([record.calibration.get("triad_bandwidth", 0) for record in self.records])

    @property
    def peak(self) -> float:
        """Of matrix products."""
        return median([record.calibration.get("gemm", {}).get("rate", 0) for record in self.records])


def moved(figure: Row) -> float:
    """Bytes of a repeat."""
    return float(figure.get("bytes_read", 0) + figure.get("bytes_written", 0))


def roofline(rates: Sequence[Rate]) -> list[Chart]:
    """A chart for each unit of work. The ceilings are those of each number of ranks, in the colour of its points where
    there are several numbers."""
    charts = []
    placed = [rate for rate in rates if rate.intensity and rate.memory]
    for work, group in grouped(placed, lambda rate: rate.work).items():
        by_ranks = grouped(group[:MOST_NAMES], lambda rate: int(rate.records[0].run.get("ranks", 1)))
        own, several, lines = colours(rate.name for rate in group), len(by_ranks) > 1, []
        across = [min(rate.intensity for rate in group) / 8, max(rate.intensity for rate in group) * 8]
        for place, (ranks, some) in enumerate(sorted(by_ranks.items())):
            shade, on = (PALETTE[place % len(PALETTE)], f"{counted(ranks, 'rank')}: ") if several else (OTHER, "")
            for rate in some:
                lines.append(Line(rate.name, shade if several else own[rate.name], [rate.intensity],
                                  [rate.value.value if rate.value else 0.0]))
            memory, peak = (median([getattr(rate, key) for rate in some]) for key in ("memory", "peak"))
            lines.append(Line(f"{on}memory {quantity(memory, 'B/s')}", shade, across, [memory * x for x in across],
                              ideal=True))
            if work == "flop" and peak:
                lines.append(Line(f"{on}matrix product {quantity(peak, 'flop/s')}", shade, across, [peak, peak],
                                  dash=1, ideal=True))
        charts.append(Chart("Roofline", f"{work} per byte", f"{work}/s", lines, log_x=True, log_y=True,
                            unit=f"{work}/s"))
    return charts

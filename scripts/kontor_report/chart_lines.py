# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines of charts through estimates, and lines to compare with."""

from .colours import OTHER, colours, dashes
from .report_parts import Line
from .statistics import Estimate


def estimated(name: str, colour: str, points: list[tuple[float, Estimate]], dash: int = 0) -> Line:
    """A line through estimates, of each point x and the estimate."""
    values = [value for _, value in points]
    return Line(name, colour, x=[x for x, _ in points], y=[value.value for value in values], low=[value.low for value in values],
                high=[value.high for value in values], dash=dash)


def lines_of(series: list[tuple[str, list[tuple[float, Estimate]]]]) -> list[Line]:
    """A line for each name that has points. A backend has its colour, and lines that share one differ by their dash."""
    colour = colours([name for name, _ in series])
    dash = dashes([colour[name] for name, _ in series])
    return [estimated(name, colour[name], points, of_line) for (name, points), of_line in zip(series, dash) if points]


def level(name: str, value: float, lines: list[Line]) -> Line:
    """A line to compare with: the value wherever one of the lines has a point."""
    across = sorted({x for line in lines for x in line.x})
    return Line(name, OTHER, across, [value] * len(across), dash=1, ideal=True)

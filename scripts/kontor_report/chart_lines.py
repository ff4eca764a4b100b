# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines of charts through estimates, and lines to compare with."""

from .colours import OTHER, colours, dashes
from .report_parts import Line
from .statistics import Estimate


def lines_of(series: list[tuple[str, list[tuple[float, Estimate]]]]) -> list[Line]:
    """A line for each name that has points, x and the estimate. A backend has its colour, and lines that share one differ by their dash."""
    colour = colours([name for name, _ in series])
    dash = dashes([colour[name] for name, _ in series])
    return [Line(name, colour[name], *zip(*((x, value.value, value.low, value.high) for x, value in points)), dash=of_line)
            for (name, points), of_line in zip(series, dash) if points]


def level(name: str, value: float, lines: list[Line]) -> Line:
    """A line to compare with: the value wherever one of the lines has a point."""
    across = sorted({x for line in lines for x in line.x})
    return Line(name, OTHER, across, [value] * len(across), dash=1, ideal=True)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report as a page: one file that needs nothing else, neither a network nor scripts."""

import base64
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .draw import chart_svg
from .parts import Chart, Section, Table
from .text import printable, quantity

PAGE = Path(__file__).parent / "page"


def html(title: str, found: list[Section]) -> str:
    environment = Environment(loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True,
                              finalize=lambda value: printable(value) if type(value) is str else value)
    environment.filters.update(svg=lambda chart: base64.b64encode(chart_svg(chart)).decode(), in_words=in_words)
    environment.tests.update(table=lambda part: isinstance(part, Table))
    return environment.get_template("page.html.j2").render(title=title, sections=found)


def in_words(chart: Chart) -> str:
    """What those read who do not see the chart: its lines, or its bars with all numbers."""
    if not chart.bars:
        names = dict.fromkeys(line.name for line in chart.lines)
        return f"{chart.y_label} over {chart.x_label}" + (f": {'; '.join(names)}" if names else "")
    told = []
    for bar in chart.bars:
        parts = ", ".join(f"{name} {quantity(length, chart.unit)}" for name, length in bar.parts)
        told.append(f"{bar.name}: {bar.words}" + (f" ({parts})" if len(bar.parts) > 1 else ""))
    return "; ".join(told)

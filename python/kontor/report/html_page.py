# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report as one HTML file that needs nothing else: neither a network nor scripts."""

import base64
from pathlib import Path

from .errors import RecordError, packages
from .report_parts import Chart, Section, Table
from .text import printable, quantity

PAGE = Path(__file__).parent / "page"
ROOM = 1130  # pixels for a table in a window of 1,200
LETTER, CELL = 7.6, 23  # pixels: of a character, and around the text of a cell, in tables of page.css


def html(title: str, sections: list[Section]) -> str:
    with packages("--html"):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        from .draw import chart_svg

    environment = Environment(loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True,
                              finalize=lambda value: printable(value) if type(value) is str else value)
    environment.filters.update(svg=lambda chart: base64.b64encode(chart_svg(chart)).decode(), in_words=in_words)
    environment.tests.update(table=lambda part: isinstance(part, Table), wide=lambda table: pixels(table) > ROOM)
    return environment.get_template("page.html.j2").render(title=title, sections=sections)


def write_html(path: str, title: str, sections: list[Section]) -> None:
    try:
        Path(path).write_text(html(title, sections), encoding="utf-8", errors="replace")
    except OSError as error:
        raise RecordError(f"--html: {path} cannot be written: {error.strerror}") from error


def pixels(table: Table) -> float:
    """How wide the table is if no cell is folded."""
    return sum(LETTER * max(map(len, column)) + CELL for column in zip(*table.lines))


def in_words(chart: Chart) -> str:
    """What those read who do not see the chart: its lines, or its bars with all numbers."""
    if not chart.bars:
        names = dict.fromkeys([line.name for line in chart.lines] + [lane.name for lane in chart.lanes])
        return f"{chart.y_label} over {chart.x_label}" + (f": {'; '.join(names)}" if names else "")
    told = []
    for bar in chart.bars:
        parts = ", ".join(f"{name} {quantity(length, chart.unit)}" for name, length in bar.parts)
        told.append(f"{bar.name}: {bar.words}" + (f" ({parts})" if len(bar.parts) > 1 else ""))
    return "; ".join(told)

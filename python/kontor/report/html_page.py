# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report as one HTML file that needs nothing else: neither a network nor scripts."""

import base64
from pathlib import Path

from .errors import RecordError, packages
from .report_parts import Chart, Part, Section, Table
from .text import printable, quantity

PAGE = Path(__file__).parent / "page"
ROOM = 1130  # pixels for a table in a window of 1,200
LETTER, CELL = 7.6, 23  # pixels: of a character, and around the text of a cell, in tables of page.css


def html(title: str, sections: list[Section]) -> str:
    with packages("--html"):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        from .draw import chart_svg

    def shown(part: Part) -> dict[str, object]:
        if isinstance(part, Table):
            rows = [[printable(cell) for cell in row] for row in part.rows]
            table = Table([printable(cell) for cell in part.header], rows, part.left, part.caption, part.last)
            return {"kind": "table", "table": table, "wide": pixels(table) > ROOM}
        if isinstance(part, Chart):
            return {"kind": "chart", "title": printable(part.title), "words": in_words(part), "svg": base64.b64encode(chart_svg(part)).decode()}
        return {"kind": "text", "text": printable(part)}

    environment = Environment(loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    told = [{"title": printable(section.title), "parts": [shown(part) for part in [section.note, *section.parts] if part]}
            for section in sections]
    return environment.get_template("page.html.j2").render(title=printable(title), sections=told)


def write_html(path: str, title: str, sections: list[Section]) -> None:
    try:
        Path(path).write_text(html(title, sections), encoding="utf-8", errors="replace")
    except OSError as error:
        raise RecordError(f"--html: {path} cannot be written: {error.strerror}") from error


def pixels(table: Table) -> float:
    """How wide the table is if no cell is folded."""
    return sum(LETTER * width + CELL for width in table.widths)


def in_words(chart: Chart) -> str:
    """What those read who do not see the chart: its lines, or its bars with all numbers."""
    if not chart.bars:
        names = dict.fromkeys([line.name for line in chart.lines] + [lane.name for lane in chart.lanes])
        return printable(f"{chart.y_label} over {chart.x_label}" + (f": {'; '.join(names)}" if names else ""))
    return printable("; ".join(f"{bar.name}: {bar.words}{_parts(bar.parts, chart.unit) if len(bar.parts) > 1 else ''}" for bar in chart.bars))


def _parts(parts: list[tuple[str, float]], unit: str) -> str:
    return f" ({', '.join(f'{name} {quantity(length, unit)}' for name, length in parts)})"

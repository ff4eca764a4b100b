# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report as one HTML file that needs nothing else: no network, and no script to be read."""

from pathlib import Path

from .errors import RecordError, packages
from .report_parts import Chart, Part, Section, Table
from .svg import svg
from .text import printable

PAGE = Path(__file__).parent / "page"


def html(title: str, sections: list[Section]) -> str:
    with packages("--html"):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup

    environment = Environment(loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    style, script = (Markup((PAGE / name).read_text(encoding="utf-8").strip()) for name in ("page.css", "page.js"))
    shown = [{"title": printable(section.title), "parts": [_part(part, Markup) for part in section.parts if _is_there(part)]} for section in sections]
    return environment.get_template("page.html.j2").render(title=printable(title), sections=shown, style=style, script=script)


def write_html(path: str, title: str, sections: list[Section]) -> None:
    try:
        Path(path).write_text(html(title, sections), encoding="utf-8", errors="replace")
    except OSError as error:
        raise RecordError(f"--html: {path} cannot be written: {error.strerror}") from error


def _is_there(part: Part) -> bool:
    return not isinstance(part, Chart) or bool(part.bars) or any(line.x for line in part.lines)


def _part(part: Part, markup) -> dict:
    if isinstance(part, Table):
        rows = [[printable(cell) for cell in row] for row in part.rows]
        return {"kind": "table", "table": Table([printable(cell) for cell in part.header], rows, part.left, part.caption, part.last)}
    if isinstance(part, Chart):
        return {"kind": "chart", "chart": part, "legend": legend(part), "svg": markup(svg(part))}
    return {"kind": "words" if "\n" in part else "text", "text": part if "\n" in part else printable(part)}


def legend(chart: Chart) -> list[tuple[str, str, bool]]:
    """Name, colour, and whether its line is dashed."""
    if chart.bars:
        names = sorted(dict.fromkeys(name for bar in chart.bars for name, _ in bar.parts), key=lambda name: name == "other")
        return [(name, chart.colours.get(name, "#999999"), False) for name in names]
    return [(line.name, line.colour, line.dash > 0) for line in chart.lines]

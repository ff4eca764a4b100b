# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of a report as Markdown."""

from .report_parts import Chart, Section, Table
from .text import printable


def markdown(title: str, sections: list[Section]) -> str:
    parts = [f"# {escaped(title)}\n"]
    for section in sections:
        parts.append(f"## {escaped(section.title)}\n")
        for part in section.parts:
            if isinstance(part, Table):
                parts.append(table(part))
            elif not isinstance(part, Chart):
                parts.append(escaped(part) + "\n")
    return "\n".join(parts)


def table(part: Table) -> str:
    rows = [[escaped(cell) for cell in row] for row in part.rows]
    header = [escaped(cell) for cell in part.header]
    widths = [max(3, *(len(row[column]) for row in [header, *rows])) for column in range(len(header))]

    def line(row: list[str]) -> str:
        cells = (cell.ljust(width) if part.holds_words(place) else cell.rjust(width) for place, (cell, width) in enumerate(zip(row, widths)))
        return f"| {' | '.join(cells)} |"

    rule = ["-" * width if part.holds_words(place) else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    caption = f"**{escaped(part.caption)}**\n\n" if part.caption else ""
    return caption + "\n".join([line(header), f"| {' | '.join(rule)} |", *map(line, rows)]) + "\n"


def escaped(text: str) -> str:
    """What Markdown would take for its own: the bar ends a cell, a < begins a tag."""
    return printable(str(text)).replace("|", "\\|").replace("<", "&lt;")

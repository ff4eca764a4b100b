# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of a report as Markdown."""

from .report_parts import Chart, Section, Table
from .text import justified, printable


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
    lines = justified(part, escaped, least=3)
    lines.insert(1, ["-" * len(cell) if part.holds_words(place) else "-" * (len(cell) - 1) + ":" for place, cell in enumerate(lines[0])])
    caption = f"**{escaped(part.caption)}**\n\n" if part.caption else ""
    return caption + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def escaped(text: str) -> str:
    """What Markdown would take for its own: the bar ends a cell, a < begins a tag."""
    return printable(str(text)).replace("|", "\\|").replace("<", "&lt;")

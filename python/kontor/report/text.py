# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers, tables and sections as text, sections of studies as Markdown; and things in groups."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from .report_parts import Chart, Section, Table

Thing = TypeVar("Thing")
Name = TypeVar("Name", bound=Hashable)

PREFIXES = {15: "P", 12: "T", 9: "G", 6: "M", 3: "k", 0: "", -3: "m", -6: "µ", -9: "n"}
SYMBOLS = ("", "B", "s", "flop", "FLOP", "J", "W")  # a prefix joins these, and /s: GB/s, but G updates/s


def quantity(value: float | None, unit: str = "") -> str:
    """Three digits and a decimal prefix: 36.5 GB/s. '-' for None."""
    if value is None:
        return "-"
    scale = next((power for power in PREFIXES if abs(value) >= 0.9995 * 10.0**power), 0)
    number = f"{value / 10.0**scale:#.3g}".rstrip(".")
    unit = unit.removeprefix("1")  # a count: 506 M/s
    space = "" if unit.split("/")[0] in SYMBOLS else " "
    return f"{number} {PREFIXES[scale]}{space if PREFIXES[scale] else ''}{unit}".rstrip()


def seconds(value: float | None) -> str:
    return quantity(value, "s")


def percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.1f} %"


def on_off(value: object) -> str:
    return "-" if value is None else "on" if value else "off"


def verdict(passed: bool | None) -> str:
    return {True: "passed", False: "FAILED", None: "not verified"}[passed]


def printable(text: str) -> str:
    """Control characters as escapes: a file's words must not move a terminal's cursor."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def grouped(things: Iterable[Thing], key: Callable[[Thing], Name]) -> dict[Name, list[Thing]]:
    """Lists of things by key(thing), in the order in which the keys first appear."""
    groups: dict[Name, list[Thing]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def text(section: Section) -> str:
    """The section with aligned tables; words are indented as these are."""
    title = f"{section.title}  ({section.note})" if section.note else section.title
    parts = [part for part in section.parts if not isinstance(part, Chart)]
    return "\n".join([printable(title), *(aligned(part) if isinstance(part, Table) else f"  {printable(part)}".rstrip() for part in parts), ""])


def aligned(table: Table) -> str:
    lines = justified(table, printable)
    if table.header:
        lines.insert(1, ["-" * len(cell) for cell in lines[0]])
    return "\n".join(f"  {'  '.join(line)}".rstrip() for line in lines)


def markdown(title: str, sections: list[Section]) -> str:
    parts = [f"# {_escaped(title)}\n"]
    for section in sections:
        parts.append(f"## {_escaped(section.title)}\n")
        for part in section.parts:
            if isinstance(part, Table):
                parts.append(_markdown_table(part))
            elif not isinstance(part, Chart):
                parts.append(_escaped(part) + "\n")
    return "\n".join(parts)


def _markdown_table(part: Table) -> str:
    lines = justified(part, _escaped, least=3)
    lines.insert(1, ["-" * len(cell) if part.holds_words(place) else "-" * (len(cell) - 1) + ":" for place, cell in enumerate(lines[0])])
    caption = f"**{_escaped(part.caption)}**\n\n" if part.caption else ""
    return caption + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escaped(words: object) -> str:
    """What Markdown would take for its own: the bar ends a cell, a < begins a tag."""
    return printable(str(words)).replace("|", "\\|").replace("<", "&lt;")


def justified(table: Table, shown: Callable[[str], str], least: int = 0) -> list[list[str]]:
    """Header and rows, the cells of a column as wide as each other, and as `least`."""
    lines = [[shown(cell) for cell in row] for row in ([table.header] if table.header else []) + table.rows]
    widths = [max(least, *map(len, column)) for column in zip(*lines)]
    return [[cell.ljust(width) if table.holds_words(column) else cell.rjust(width) for column, (cell, width) in enumerate(zip(line, widths))]
            for line in lines]

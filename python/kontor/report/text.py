# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers as text, sections as text and as Markdown; and things in groups."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from .parts import Chart, Section, Table

Thing = TypeVar("Thing")
Name = TypeVar("Name", bound=Hashable)

PREFIXES = {15: "P", 12: "T", 9: "G", 6: "M", 3: "k", 0: "", -3: "m", -6: "u", -9: "n"}
SYMBOLS = ("", "B", "s", "flop", "FLOP", "J", "W")  # a prefix joins these, and /s: GB/s, but G updates/s


def quantity(value: float | None, unit: str = "") -> str | None:
    """Three digits and a decimal prefix: 36.5 GB/s."""
    if value is None:
        return None
    scale = next((power for power in PREFIXES if abs(value) >= 0.9995 * 10.0**power), 0)
    digits = f"{value / 10.0**scale:#.3g}".rstrip(".")
    unit = unit.removeprefix("1")  # a count: 506 M/s
    space = "" if unit.split("/")[0] in SYMBOLS else " "
    return f"{digits} {PREFIXES[scale]}{space if PREFIXES[scale] else ''}{unit}".rstrip()


def seconds(value: float | None) -> str | None:
    return quantity(value, "s")


def in_bytes(value: float | None) -> str | None:
    return quantity(value, "B")


def percent(fraction: float | None) -> str | None:
    """One decimal, or two digits of less than 0.1 %."""
    if fraction is None:
        return None
    return f"{100 * fraction:.1f} %" if abs(fraction) >= 0.00095 or not fraction else f"{100 * fraction:.2g} %"


def spaced(key: str) -> str:
    return key.replace("_", " ")


def counted(number: object, word: str) -> str:
    """'1 rank', '2 ranks'."""
    return f"{number} {word}{'s' * (number != 1)}"


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
    lines = [printable(f"{section.title}  ({section.note})" if section.note else section.title)]
    for part in section.parts:
        if isinstance(part, Table):
            lines += [f"  {'  '.join(cells)}".rstrip() for cells in _aligned(part, printable, "-")]
        elif not isinstance(part, Chart):
            lines.append(f"  {printable(part)}".rstrip())
    return "\n".join([*lines, ""])


def markdown(title: str, sections: list[Section]) -> str:
    lines = [f"# {_escaped(title)}", ""]
    for section in sections:
        lines += [f"## {_escaped(section.title)}", ""]
        for part in [section.note, *section.parts]:
            if isinstance(part, Table):
                part.header = part.header or [""] * len(part.words)
                lines += [*(f"| {' | '.join(cells)} |" for cells in _aligned(part, _escaped, ":", least=3)), ""]
            elif part and not isinstance(part, Chart):
                lines += [_escaped(part), ""]
    return "\n".join(lines)


def _escaped(words: str) -> str:
    """What Markdown would take for its own: the bar ends a cell, a < begins a tag."""
    return printable(words).replace("|", "\\|").replace("<", "&lt;")


def _aligned(table: Table, shown: Callable[[str], str], mark: str, least: int = 0) -> list[list[str]]:
    """The lines of a table, the cells of a column as wide as each other, and as `least`; under a header a rule, which
    ends with `mark` in columns of numbers."""
    lines = [list(map(shown, line)) for line in ([table.header] if table.header else []) + table.rows]
    widths = [max(least, *map(len, column)) for column in zip(*lines)]
    lines = [[cell.ljust(width) if words else cell.rjust(width)
              for cell, width, words in zip(line, widths, table.words)] for line in lines]
    rule = ["-" * (width - (not words)) + mark * (not words) for width, words in zip(widths, table.words)]
    return [lines[0], rule, *lines[1:]] if table.header else lines

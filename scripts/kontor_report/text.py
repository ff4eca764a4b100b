# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers and tables as aligned text."""

from .report_parts import Table

PREFIXES = {15: "P", 12: "T", 9: "G", 6: "M", 3: "k", 0: "", -3: "m", -6: "µ", -9: "n"}
SYMBOLS = ("", "B", "s", "flop", "FLOP")  # a prefix joins these, and /s: GB/s, but G updates/s


def quantity(value, unit=""):
    """Three digits and a decimal prefix: 36.5 GB/s. '-' for None."""
    if value is None:
        return "-"
    scale = next((power for power in PREFIXES if abs(value) >= 0.9995 * 10.0**power), 0)
    number = f"{value / 10.0**scale:#.3g}".rstrip(".")
    unit = unit.removeprefix("1")  # a count: 506 M/s
    space = "" if unit.split("/")[0] in SYMBOLS else " "
    return f"{number} {PREFIXES[scale]}{space if PREFIXES[scale] else ''}{unit}".rstrip()


def seconds(value):
    return quantity(value, "s")


def percent(fraction):
    return "-" if fraction is None else f"{100 * fraction:.1f} %"


def on_off(value):
    return "-" if value is None else "on" if value else "off"


def verdict(passed):
    return {True: "passed", False: "FAILED", None: "not verified"}[passed]


def printable(text):
    """Control characters as escapes: a file's words must not move a terminal's cursor."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


class Text(str):
    """A text that remembers what it was made of: a table, or a title and a body."""

    table = None
    title = body = ""


def table(rows, header=None, left=1, indent="  "):
    """Rows of strings as a Text; the first `left` columns are left-aligned, the others right."""
    rows = [[printable(cell) for cell in row] for row in rows]
    text = Text(_aligned(rows, header, left, indent))
    text.table = Table(header or [], rows, left)
    return text


def _aligned(rows, header, left, indent):
    lines = ([header] if header else []) + rows
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    if header:
        lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        (indent + "  ".join(cell.ljust(width) if column < left else cell.rjust(width)
                            for column, (cell, width) in enumerate(zip(line, widths)))).rstrip()
        for line in lines
    )


def section(title, body):
    text = Text(f"{printable(title)}\n{body}\n")
    text.title, text.body = title, body
    return text

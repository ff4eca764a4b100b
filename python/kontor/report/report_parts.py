# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of a report, whatever it is written as: sections of texts, tables and charts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


class Table:
    """Cells are words, numbers and intervals; None is shown as '-'."""

    def __init__(self, header: list[str], rows: Iterable[Sequence[object]], left: int = 1, last: int = 0) -> None:
        """So many of the first (`left`) and of the last columns hold words, the others numbers."""
        self.header, self.left, self.last = header, left, last
        self.rows = [["-" if cell is None else str(cell) for cell in row] for row in rows]

    def holds_words(self, column: int) -> bool:
        return column < self.left or column >= len(self.header or self.rows[0]) - self.last

    @property
    def lines(self) -> list[list[str]]:
        """The header, if there is one, and the rows."""
        return [self.header, *self.rows] if self.header else self.rows


@dataclass
class Line:
    """Points of one series, with the ends of their intervals where these are known."""

    name: str
    colour: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    dash: int = 0  # 0: none; lines that share a colour have different ones
    ideal: bool = False  # a line to compare with: no markers
    small: bool = False  # many points: a curve, with small markers if any
    points: bool = False  # markers without a line


@dataclass
class Bar:
    name: str
    parts: list[tuple[str, float]]  # name, length; one after the other
    words: str = ""  # behind the bar


@dataclass
class Image:
    """Values of a plane as colours."""

    values: Any  # array (rows, columns), row 0 at the bottom
    extent: tuple[float, float, float, float]  # left, right, bottom, top
    label: str  # of the colours
    least: float | None = None  # value of the first colour
    most: float | None = None
    colours: str = "inferno"
    names: list[str] = field(default_factory=list)  # of rows and columns of a matrix, whose row 0 is at the top


@dataclass
class Chart:
    """Lines, bars or an image with its axes."""

    title: str
    x_label: str
    y_label: str = ""
    lines: list[Line] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    image: Image | None = None
    colours: dict[str, str] = field(default_factory=dict)  # of the parts of bars
    log_x: bool = False
    log_y: bool = False
    unit: str = ""  # of the numbers: on the axis of y, or along the bars
    x_unit: str = ""
    from_zero: bool = False

    def __bool__(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self.bars or self.image) or any(line.x for line in self.lines)


Part = str | Table | Chart


@dataclass
class Section:
    title: str
    parts: Sequence[Part]
    note: str = ""  # on the title, such as where its numbers are from

    @property
    def charts(self) -> list[Chart]:
        return [part for part in self.parts if isinstance(part, Chart)]


def tabulated(title: str, header: list[str], rows: Sequence[Sequence[object]], *more: Part, left: int = 1,
              last: int = 0, text: str = "", note: str = "") -> list[Section]:
    """A section of a text, a table and more; none if the table has no rows."""
    return [Section(title, [*filter(None, [text]), Table(header, rows, left, last), *more], note)] if rows else []


def paired(title: str, rows: Sequence[tuple[str, object]], left: int = 2, note: str = "") -> list[Section]:
    """A section of names and values; none if there are none."""
    return tabulated(title, [], rows, left=left, note=note)

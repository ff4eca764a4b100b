# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a report is made of, whatever it is written as: sections of texts, tables and charts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Table:
    header: list[str]
    rows: list[list[str]]
    left: int = 1  # so many columns hold words, the others numbers
    caption: str = ""
    last: int = 0  # so many of the last columns hold words, too

    def holds_words(self, column: int) -> bool:
        return column < self.left or column >= len(self.header or self.rows[0]) - self.last

    @property
    def widths(self) -> list[int]:
        """Characters of the longest cell of each column."""
        return [max(map(len, column)) for column in zip(*([self.header] if self.header else []), *self.rows)]


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
    """One bar of parts, that lie one after the other."""

    name: str
    parts: list[tuple[str, float]]  # name, length
    words: str = ""  # behind the bar


@dataclass
class Lane:
    """What one rank does by one name: intervals of time."""

    rank: str
    name: str
    spans: list[tuple[float, float]]  # begin, length


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
    """Lines, bars, lanes or an image with its axes."""

    title: str
    x_label: str
    y_label: str = ""
    lines: list[Line] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    lanes: list[Lane] = field(default_factory=list)
    image: Image | None = None
    colours: dict[str, str] = field(default_factory=dict)  # of the parts of bars, or of the names of lanes
    log_x: bool = False
    log_y: bool = False
    unit: str = ""  # of the numbers: on the axis of y, or along the bars
    x_unit: str = ""
    from_zero: bool = False

    def __bool__(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self.bars or self.lanes or self.image) or any(line.x for line in self.lines)


Part = str | Table | Chart


@dataclass
class Section:
    title: str
    parts: list[Part]
    note: str = ""  # on the title, such as where its numbers are from


def tabulated(title: str, text: str, table: Table, *more: Part) -> list[Section]:
    """A section of the table, if that has rows."""
    return [Section(title, [text, table, *more])] if table.rows else []


def charts_of(sections: list[Section]) -> list[Chart]:
    return [part for section in sections for part in section.parts if isinstance(part, Chart)]

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of a report, whatever it is written as: sections of texts, tables and charts, and the colours of these."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .statistics import Estimate  # by NumPy, which kontor study does without

NUMBER = re.compile(r"[-+]?(\d[\d.]*(e[-+]?\d+)?|nan|inf)( [^,\[]*)?(\[.*\])?")  # as a cell, with its unit and interval

# Okabe and Ito's colours: told apart by colour-blind readers too. And some of Paul Tol's for the parts of a solver.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
OTHER = "#999999"
KINDS = {"compute": ("#0072B2", "#56B4E9", "#332288", "#882255"), "packing": ("#E69F00", "#CC79A7"),
         "communication": ("#D55E00", "#F0E442", "#009E73", "#99D8C0", "#661100")}
BACKENDS = {"raw": "#0072B2", "view": "#D55E00", "shm": "#009E73", "nccl": "#CC79A7", "ipc": "#E69F00", "null": OTHER}


class Table:
    """Cells are words, numbers and intervals; None is shown as '-'."""

    def __init__(self, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        self.header = list(header)
        self.rows = [["-" if cell is None else str(cell) for cell in row] for row in rows]
        cells = [[cell for cell in column if cell != "-"] for column in zip(*self.rows)]
        self.words = [not column or not all(map(NUMBER.fullmatch, column)) for column in cells]  # of each column


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


@dataclass
class Chart:
    """Lines, bars or an image with its axes."""

    title: str
    x_label: str
    y_label: str = ""
    lines: list[Line] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    image: Image | None = None
    colours: Mapping[str, str] = field(default_factory=dict)  # of the parts of bars, in the order of the legend
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


def tabulated(title: str, rows: Iterable[Mapping[str, object]], *more: Part, note: str = "") -> list[Section]:
    """A section of a table, whose rows are cells by the names of their columns, and of more parts; none without rows.
    Columns but the first are left out where they hold nothing."""
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    kept = [name for name in names if name == names[0] or any(row.get(name) is not None for row in rows)]
    table = Table(kept, [[row.get(name) for name in kept] for row in rows])
    return [Section(title, [table, *more], note)] if rows else []


def paired(title: str, rows: Iterable[tuple[str, object]]) -> list[Section]:
    """A section of names and values, without those that are empty; none if there are none."""
    rows = [row for row in rows if row[1] is not None and row[1] != ""]
    return [Section(title, [Table([], rows)])] if rows else []


def colours(names: Iterable[str]) -> dict[str, str]:
    """By name: the backend's where the first word is a backend, else a colour that no backend here has."""
    words = {name: (name.split() or [""])[0].rstrip(",") for name in names}
    own = {name: BACKENDS[word] for name, word in words.items() if word in BACKENDS}
    free = [colour for colour in PALETTE if colour not in own.values()] or list(PALETTE)
    others = [name for name in words if name not in own]
    return {**own, **{name: free[place % len(free)] for place, name in enumerate(others)}}


def region_colours(kinds: Mapping[str, str]) -> dict[str, str]:
    """Of regions by their kinds: each kind has its own group of colours. Grey for the rest of the time."""
    chosen: dict[str, str] = {}
    for region, kind in kinds.items():
        group = KINDS.get(kind, PALETTE)
        chosen[region] = group[sum(kinds[other] == kind for other in chosen) % len(group)]
    return {**chosen, "other": OTHER}


def lines_of(series: Sequence[tuple[str, Sequence[tuple[float, "Estimate"]]]]) -> list[Line]:
    """A line for each name with points (x, estimate). Lines that share a backend's colour differ by their dash."""
    colour, used, lines = colours(name for name, _ in series), list[str](), []
    for name, points in series:
        if points:
            across, estimates = zip(*points)
            y, low, high = zip(*estimates)
            lines.append(Line(name, colour[name], across, y, low, high, dash=used.count(colour[name])))
            used.append(colour[name])
    return lines


def level(name: str, value: float, lines: list[Line]) -> Line:
    """A line to compare with: the value wherever one of the lines has a point."""
    across = sorted({x for line in lines for x in line.x})
    return Line(name, OTHER, across, [value] * len(across), dash=1, ideal=True)

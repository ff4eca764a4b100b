# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an app must send in one step by its problem and its process grid, beside what its record says it sends."""

import math
from dataclasses import dataclass

from .deck import settings
from .record import Record

SIZES = {"double": 8, "float": 4}


@dataclass
class Volume:
    """What all ranks send in a step."""

    messages: int
    bytes: float
    model_messages: float | None
    model_bytes: float | None
    source: str  # of the model, in words

    @property
    def agrees(self) -> bool | None:
        """None if there is no model."""
        if self.model_bytes is None:
            return None
        return self.bytes == self.model_bytes and (self.model_messages is None or self.messages == self.model_messages)


def volume_of(record: Record) -> Volume | None:
    """None if the record tells of no traffic."""
    if not record.traffic:
        return None
    messages, size = (sum(row[what] for row in record.traffic) for what in ("messages", "bytes"))
    model = {"heat": heat, "cg": cg, "matmul": matmul}.get(record.run.get("app", ""))
    return Volume(messages, size, *(model(record) if model else (None, None, "no model of this app")))


def numbers(text: str) -> list[int]:
    """'[768, 768]' and '2 x 3' as numbers; empty if they are none."""
    words = text.strip("[]").replace("x", ",").split(",")
    return [int(word) for word in words] if all(word.strip().isdigit() for word in words) else []


def blocks(record: Record) -> list[tuple[int, int]]:
    """The cells of heat along each axis, and the ranks among which they are divided; empty if the record does not tell."""
    cells, grid = numbers(settings(record).get("problem.cells", "")), numbers(str(record.run.get("process_grid", "")))
    return list(zip(cells, grid)) if len(cells) == len(grid) else []


def heat(record: Record) -> tuple[float | None, float | None, str]:
    """Two messages through each face between blocks, a layer of cells each. A periodic axis has one face more."""
    size = SIZES.get(record.run.get("precision", ""))
    if not blocks(record) or size is None:
        return None, None, "the record does not tell cells and process grid"
    cells, grid = zip(*blocks(record))
    cut = [faces_across(record, axis, ranks) for axis, ranks in enumerate(grid)]
    faces = sum(count * math.prod(grid) // ranks for count, ranks in zip(cut, grid))
    layer = sum(count * math.prod(cells) // cells[axis] for axis, count in enumerate(cut))
    return 2 * faces, 2 * layer * size, "2 (P_a - 1) faces across each axis a, 2 P_a if it is periodic, one layer of cells each"


def faces_across(record: Record, axis: int, ranks: int) -> int:
    """Those between so many ranks along the axis. One rank is its own neighbour and sends nothing."""
    periodic = settings(record).get(f"problem.boundary.{'xyz'[axis]}_min") == "periodic"
    return ranks if periodic and ranks > 1 else ranks - 1


def cg(record: Record) -> tuple[float | None, float | None, str]:
    """Each ghost once, from one neighbour."""
    ghosts, neighbours = record.matrix.get("ghosts"), record.matrix.get("neighbours")
    if ghosts is None:
        return None, None, "the record does not tell ghosts"
    return neighbours, 8 * ghosts, "each ghost once, one message a neighbour"


def matmul(record: Record) -> tuple[float | None, float | None, str]:
    """A shift of A along rows and one of B along columns moves each matrix once."""
    values, grid = settings(record), numbers(str(record.run.get("process_grid", "")))
    size = SIZES.get(record.run.get("precision", ""))
    try:
        m, n, k = (int(values[f"problem.{name}"]) for name in "mnk")
    except (KeyError, ValueError):
        return None, None, "the record does not tell m, n, k"
    if values.get("product.algorithm") == "summa" or len(grid) != 2 or size is None:
        return None, None, "no model of this algorithm's steps"
    rows, columns = grid
    moved = (m * k * (columns > 1) + k * n * (rows > 1)) * size
    return None, moved, "one shift of A and one of B: each matrix once, where there is more than one column or row"

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A box of cells or points divided among ranks, as miniapps/grid does it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from kontor.messages import Failure

from .network import Message

Direction = tuple[int, ...]


def smallest_surface_grid(ranks: int, extents: list[int]) -> list[int]:
    """As process_grid.cpp chooses: the least surface of all cuts, and of several the first; x has the smallest factors first."""
    best, least = None, float("inf")
    for grid in _factorisations(ranks, len(extents)):
        if any(parts > 1 and extent < parts for parts, extent in zip(grid, extents)):
            continue
        surface = sum((parts - 1) / extent for parts, extent in zip(grid, extents))
        if surface < least:
            best, least = grid, surface
    if best is None:
        raise Failure(f"{extents} cannot be divided among {ranks} ranks; use fewer ranks or more cells")
    return best


def _factorisations(ranks: int, axes: int) -> Iterator[list[int]]:
    if axes == 1:
        yield [ranks]
        return
    for parts in range(1, ranks + 1):
        if ranks % parts == 0:
            for rest in _factorisations(ranks // parts, axes - 1):
                yield [parts, *rest]


def whole_box(sizes: list[int], value: Any, ranks: int) -> tuple[list[int], list[int]]:
    """Sizes of all ranks and their grid: with problem.local the deck has those of one, as miniapps/grid/sizing.cpp takes them."""
    grid = list(value("decomposition.process_grid") or [])
    if not value("problem.local"):
        return sizes, grid
    grid = grid or smallest_surface_grid(ranks, [size * ranks for size in sizes])
    return [size * parts for size, parts in zip(sizes, grid)], grid


@dataclass(frozen=True)
class DividedBox:
    """Axes x, y, z; ranks along x are numbered first."""

    extents: tuple[int, ...]
    grid: tuple[int, ...]
    periodic: tuple[bool, ...]

    @cached_property
    def ranks(self) -> int:
        return prod(self.grid)

    def place(self, rank: int) -> tuple[int, ...]:
        place = []
        for parts in self.grid:
            place.append(rank % parts)
            rank //= parts
        return tuple(place)

    def rank_at(self, place: tuple[int, ...]) -> int | None:
        """None beyond a boundary that is not periodic."""
        rank, stride = 0, 1
        for at, parts, periodic in zip(place, self.grid, self.periodic):
            if not periodic and not 0 <= at < parts:
                return None
            rank += at % parts * stride
            stride *= parts
        return rank

    def block(self, rank: int) -> tuple[int, ...]:
        """Extents of its block: the first ones have a cell more."""
        return tuple(extent // parts + (at < extent % parts) for extent, parts, at in zip(self.extents, self.grid, self.place(rank)))

    def neighbour(self, rank: int, direction: Direction) -> int | None:
        """None if there is none, or it is the rank itself."""
        found = self.rank_at(tuple(at + step for at, step in zip(self.place(rank), direction)))
        return None if found == rank else found

    def interior(self, rank: int, thickness: int = 1, thickness_x: int = 1) -> int:
        """Cells that read no other rank's."""
        extents = []
        for axis, extent in enumerate(self.block(rank)):
            step = [0] * len(self.extents)
            for side in (-1, 1):
                step[axis] = side
                if self.neighbour(rank, tuple(step)) is not None:
                    extent -= thickness_x if axis == 0 else thickness
            extents.append(max(0, extent))
        return prod(extents)


def faces(axes: int) -> list[Direction]:
    """In the order in which miniapps/grid exchanges them: x up, x down, y up, ..."""
    return [tuple(side if axis == at else 0 for at in range(axes)) for axis in range(axes) for side in (1, -1)]


def all_around(axes: int) -> list[Direction]:
    found: list[Direction] = [()]
    for _ in range(axes):
        found = [(*direction, step) for direction in found for step in (-1, 0, 1)]
    return [direction for direction in found if any(direction)]


def halo(box: DividedBox, directions: list[Direction], bytes_a_cell: float, by_rank: bool = False) -> list[Message]:
    """The messages of all ranks, each in the order of its slots, or joined and ordered by the rank that they go to."""
    messages = []
    for rank in range(box.ranks):
        extents = box.block(rank)
        mine: list[tuple[int, float]] = []
        for direction in directions:
            other = box.neighbour(rank, direction)
            if other is not None:
                layer = prod(1 if step else extent for step, extent in zip(direction, extents))
                mine.append((other, layer * bytes_a_cell))
        if by_rank:
            joined: dict[int, float] = {}
            for other, size in mine:
                joined[other] = joined.get(other, 0.0) + size
            mine = sorted(joined.items())
        messages += [Message(rank, other, size) for other, size in mine]
    return messages

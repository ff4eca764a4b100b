# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""matmul by Cannon's algorithm: blocks are skewed, multiplied and shifted around rings of ranks, and restored."""

from math import lcm


from .collectives import allreduce
from .exchange import Exchange
from .machine import Machine
from .network import Message
from .prediction import Prediction, Value, outside


class Cannon:
    """As miniapps/matmul/algorithm/panels.hpp has it: k is cut into lcm(rows, columns) panels."""

    def __init__(self, m: int, n: int, k: int, rows: int, columns: int, size: int) -> None:
        self.m, self.n, self.k, self.rows, self.columns, self.size = m, n, k, rows, columns, size
        self.panels = lcm(rows, columns)
        self.in_a, self.in_b = self.panels // columns, self.panels // rows

    def rank(self, row: int, column: int) -> int:
        return row % self.rows * self.columns + column % self.columns

    def bytes_of_a(self, panels: int) -> float:
        return self.size * self.m / self.rows * self.k / self.panels * panels

    def bytes_of_b(self, panels: int) -> float:
        return self.size * self.n / self.columns * self.k / self.panels * panels

    def everywhere(self) -> list[tuple[int, int]]:
        return [(row, column) for row in range(self.rows) for column in range(self.columns)]

    def skew_of_a(self, back: bool = False) -> list[Message]:
        return self._rotation(lambda row, column: row * self.in_b, self.in_a, self.bytes_of_a, True, back) if self.columns > 1 else []

    def skew_of_b(self, back: bool = False) -> list[Message]:
        return self._rotation(lambda row, column: column * self.in_a, self.in_b, self.bytes_of_b, False, back) if self.rows > 1 else []

    def _rotation(self, offset, width, size_of, along_row, back) -> list[Message]:
        """Rank i of a ring gets the panels that begin `offset` further on: of one or two ranks."""
        messages = []
        for row, column in self.everywhere():
            skew = offset(row, column) % self.panels
            far, cut = divmod(skew, width)
            if skew == 0:
                continue
            for distance, count in ((far, width - cut), (far + 1, cut)):
                other = self.rank(row, column - distance) if along_row else self.rank(row - distance, column)
                me = self.rank(row, column)
                if count and other != me:
                    messages.append(Message(other, me, size_of(count)) if back else Message(me, other, size_of(count)))
        return messages

    def shift_of_a(self) -> list[Message]:
        return [Message(self.rank(row, column), self.rank(row, column - 1), self.bytes_of_a(self.in_a)) for row, column in self.everywhere()]

    def shift_of_b(self) -> list[Message]:
        return [Message(self.rank(row, column), self.rank(row - 1, column), self.bytes_of_b(self.in_b)) for row, column in self.everywhere()]

    def segments(self) -> list[tuple[int, int]]:
        """Panels that are multiplied at once: until A or B moves on."""
        cuts = [panel for panel in range(1, self.panels) if panel % self.in_a == 0 or panel % self.in_b == 0]
        return list(zip([0, *cuts], [*cuts, self.panels]))


def predict(value: Value, ranks: int, machine: Machine) -> Prediction:
    m, n, k = (value(f"problem.{key}") for key in "mnk")
    rows, columns = value("decomposition.process_grid") or least_volume_grid(m, n, k, ranks)
    if value("problem.local"):  # the deck has the sizes of one rank: size_of_all() of miniapps/matmul/options.cpp
        m, n, k = m * rows, n * columns, round(k * (m + n) / (m / columns + n / rows))
    cannon = Cannon(m, n, k, rows, columns, 4 if value("problem.precision") == "float" else 8)
    rate = machine.rate("matmul/gemm")
    overlap = value("comm.overlap")
    compute = exchanged = 0.0
    for skew in (cannon.skew_of_a(), cannon.skew_of_b(), cannon.skew_of_a(back=True), cannon.skew_of_b(back=True)):
        exchanged += Exchange(machine, ranks, skew).once()
    flops = 0.0
    kinds: dict[tuple[bool, bool], Exchange] = {}
    steps: dict[tuple[tuple[bool, bool], float], float] = {}
    for begin, end in cannon.segments():
        flops = 2 * (m / rows) * (n / columns) * (k / cannon.panels) * (end - begin)
        multiply = rate(flops)
        # A block moves on while the segment is multiplied with which it begins, and is waited for at its end.
        moves = tuple(end % width == 0 and end < cannon.panels for width in (cannon.in_a, cannon.in_b))
        if moves not in kinds:
            kinds[moves] = Exchange(machine, ranks, (cannon.shift_of_a() if moves[0] and columns > 1 else [])
                                    + (cannon.shift_of_b() if moves[1] and rows > 1 else []))
        if (moves, multiply) not in steps:
            steps[moves, multiply] = kinds[moves].step(*([multiply if on else 0.0] * ranks for on in (overlap, not overlap)))
        compute += multiply
        exchanged += steps[moves, multiply] - multiply
    return Prediction(1, compute, exchanged, allreduce(machine, ranks, 16), (rows, columns), f"{m / rows:.4g} x {n / columns:.4g}",
                      2.0, cannon.bytes_of_a(cannon.in_a) + cannon.bytes_of_b(cannon.in_b),
                      outside(machine, matmul_gemm=flops))


def least_volume_grid(m: int, n: int, k: int, ranks: int) -> tuple[int, int]:
    """As miniapps/matmul/costs.cpp chooses."""
    best, least = (1, ranks), float("inf")
    for rows in range(1, ranks + 1):
        if ranks % rows:
            continue
        columns = ranks // rows
        volume = m * k * (columns - 1) + k * n * (rows - 1)
        if volume < least:
            best, least = (rows, columns), volume
    return best

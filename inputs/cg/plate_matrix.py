#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes plate.mtx: steady heat in a ring-shaped plate of two materials, by linear triangles.

plate_matrix.py > plate.mtx
"""

import math
import random

AROUND, ACROSS = 9, 2  # points; those on the inner circle are held at a temperature, and are no unknowns
CONDUCTIVITY = (1.0, 50.0)  # of the inner and the outer half
COOLING = 0.3  # of the outer circle


def point(i, j):
    """Point i around, j across; the rings are turned against each other, and grow outwards."""
    angle = 2 * math.pi * (i + 0.5 * j) / AROUND
    radius = 1.21**j * (1 + 0.05 * math.sin(5 * angle))
    return radius * math.cos(angle), radius * math.sin(angle)


def assemble():
    """The entries by pairs of points (i, j)."""
    entries = {}

    def add(a, b, value):
        entries[a, b] = entries.get((a, b), 0.0) + value

    for j in range(ACROSS):
        conductivity = CONDUCTIVITY[2 * j >= ACROSS]
        for i in range(AROUND):
            inner, outer = (i, j), (i, j + 1)
            inner_next, outer_next = ((i + 1) % AROUND, j), ((i + 1) % AROUND, j + 1)
            for corners in (inner, inner_next, outer), (inner_next, outer_next, outer):
                # Point AROUND is point 0 but for one turn, which point() does not mind.
                (x0, y0), (x1, y1), (x2, y2) = (point(*c) for c in corners)
                b, c = (y1 - y2, y2 - y0, y0 - y1), (x2 - x1, x0 - x2, x1 - x0)
                area = abs(b[0] * c[1] - b[1] * c[0]) / 2
                for p in range(3):
                    for q in range(3):
                        add(corners[p], corners[q], conductivity * (b[p] * b[q] + c[p] * c[q]) / (4 * area))
            if j + 1 == ACROSS:
                length = math.dist(point(*outer), point(*outer_next))
                for a, b, part in ((outer, outer, 3), (outer_next, outer_next, 3), (outer, outer_next, 6), (outer_next, outer, 6)):
                    add(a, b, COOLING * length / part)
    return entries


def main():
    unknowns = [(i, j) for j in range(1, ACROSS + 1) for i in range(AROUND)]
    random.Random(1).shuffle(unknowns)  # as of a mesh generator that cares for no order
    number = {p: n for n, p in enumerate(unknowns, 1)}
    lower = sorted(
        (number[b], number[a], value)
        for (a, b), value in assemble().items()
        if a in number and b in number and number[a] >= number[b]
    )
    print("%%MatrixMarket matrix coordinate real symmetric")
    print("% Steady heat in a ring-shaped plate of two materials, by linear triangles, numbered at random")
    print("% (inputs/cg/plate_matrix.py).")
    print(len(unknowns), len(unknowns), len(lower))
    for column, row, value in lower:
        print(f"{row} {column} {value:.12g}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws shifts.svg: which blocks of A and B each rank of a 3 x 3 grid holds in each step of Cannon's algorithm."""

from pathlib import Path

RANKS = 3
# Block (i, k) of A and (k, j) of B have the colour of k: where both are alike, the rank may multiply them.
COLOURS = ("#0072B2", "#E69F00", "#009E73")
STAGES = (("given", None), ("after the skew: step 0", 0), ("after one shift: step 1", 1), ("after two shifts: step 2", 2))
CELL, LEFT, TOP = 62, 26, 40  # of a rank, and the place of the first one in its grid's part of the figure
WIDTH, HEIGHT = LEFT + RANKS * CELL + 4, TOP + RANKS * CELL + 4

HEAD = f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{len(STAGES) * WIDTH}pt" viewBox="0 0 {len(STAGES) * WIDTH} {HEIGHT}">
<defs>
<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto">
<path d="M1 1L7 4L1 7" fill="none" stroke="#444444"/>
</marker>
</defs>
<style>
text {{ font: 9px sans-serif; fill: white; text-anchor: middle; dominant-baseline: central }}
.title {{ font-size: 11px; fill: black }}
.rank {{ fill: none; stroke: #444444 }}
.arrow {{ stroke: #444444; stroke-width: 1.4; marker-end: url(#head) }}
</style>
<rect width="100%" height="100%" fill="white"/>"""


def held(row, column, step):
    """The k of the blocks of A and B of a rank; step None is before the skew."""
    if step is None:
        return column, row
    return ((row + column + step) % RANKS,) * 2


def block(x, y, name, k):
    return (
        f'<rect x="{x}" y="{y}" width="24" height="31" fill="{COLOURS[k]}" opacity="0.85"/>'
        f'<text x="{x + 12}" y="{y + 15.5}">{name}</text>'
    )


def grid(title, step):
    """The elements of one stage, drawn with its upper left corner at the origin."""
    yield f'<text class="title" x="{LEFT + RANKS * CELL / 2}" y="9">{title}</text>'
    for row in range(RANKS):
        for column in range(RANKS):
            x, y = LEFT + column * CELL, TOP + row * CELL
            of_a, of_b = held(row, column, step)
            yield f'<rect class="rank" x="{x}" y="{y}" width="{CELL}" height="{CELL}"/>'
            yield block(x + 5, y + 15.5, f"A{row}{of_a}", of_a)
            yield block(x + 33, y + 15.5, f"B{of_b}{column}", of_b)
    if step is not None and step + 1 < RANKS:
        for place in range(RANKS):
            middle = (place + 0.5) * CELL
            yield f'<path class="arrow" d="M{LEFT - 3} {TOP + middle}h-17"/>'
            yield f'<path class="arrow" d="M{LEFT + middle} {TOP - 3}v-17"/>'


def main():
    lines = [HEAD]
    for number, stage in enumerate(STAGES):
        lines += [f'<g transform="translate({number * WIDTH})">', *grid(*stage), "</g>"]
    Path(__file__).with_name("shifts.svg").write_text("\n".join([*lines, "</svg>"]) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws shifts.svg: which blocks of A and B each rank of a 3 x 3 grid holds in each step of Cannon's algorithm."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RANKS = 3
# Block (i, k) of A and (k, j) of B have the colour of k: where both are alike, the rank may multiply them.
COLOURS = ("#0072B2", "#E69F00", "#009E73")
STAGES = (("given", None), ("after the skew: step 0", 0), ("after one shift: step 1", 1), ("after two shifts: step 2", 2))


def held(row, column, step):
    """The k of the blocks of A and B of a rank; step None is before the skew."""
    if step is None:
        return column, row
    return ((row + column + step) % RANKS,) * 2


def draw(axes, title, step):
    for row in range(RANKS):
        for column in range(RANKS):
            of_a, of_b = held(row, column, step)
            axes.add_patch(plt.Rectangle((column, row), 1, 1, facecolor="none", edgecolor="#444444"))
            for offset, text, k in ((0.08, f"A{row}{of_a}", of_a), (0.54, f"B{of_b}{column}", of_b)):
                axes.add_patch(plt.Rectangle((column + offset, row + 0.25), 0.38, 0.5, facecolor=COLOURS[k], alpha=0.85))
                axes.text(column + offset + 0.19, row + 0.5, text, ha="center", va="center", color="white", fontsize=9)
    if step is not None and step + 1 < RANKS:
        arrow = {"arrowstyle": "->", "color": "#444444", "linewidth": 1.4}
        for place in range(RANKS):
            axes.annotate("", (-0.32, place + 0.5), (-0.04, place + 0.5), arrowprops=arrow)
            axes.annotate("", (place + 0.5, -0.32), (place + 0.5, -0.04), arrowprops=arrow)
    axes.set(xlim=(-0.35, RANKS + 0.02), ylim=(RANKS + 0.02, -0.35), aspect="equal")
    axes.set_title(title, fontsize=10)
    axes.axis("off")


def main():
    matplotlib.rcParams.update({"svg.hashsalt": "shifts", "svg.fonttype": "none", "font.family": "sans-serif"})
    figure, plots = plt.subplots(1, len(STAGES), figsize=(12, 3.3), layout="constrained")
    for axes, (title, step) in zip(plots, STAGES):
        draw(axes, title, step)
    figure.savefig(Path(__file__).with_name("shifts.svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()

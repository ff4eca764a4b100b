# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The activities of all ranks on one axis of time: what each computed, and what travelled meanwhile."""

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from .colours import PALETTE, PARTS
from .deck import section_of
from .drawing import styled
from .text import on_off, printable
from .timeline import COMPUTES, activities

HEIGHT = 0.8  # of the lanes of a rank together
MOST_RANKS = 16


@styled
def plot_timeline(record, path):
    ranks = sorted({row["rank"] for row in record.timeline})
    shown = ranks[:MOST_RANKS]
    figure = Figure(figsize=(10, 1.8 + 0.7 * len(shown)))
    axes = figure.subplots()
    draw_timeline(record, axes, shown)
    run = record.run
    words = [run.get("backend", "?"), *([f"overlap {on_off(run['overlap'])}"] if "overlap" in run else []), f"{len(ranks)} ranks",
             *([f"the first {len(shown)} shown"] if len(shown) < len(ranks) else [])]
    figure.suptitle(printable(f"{run.get('app', '')}: {', '.join(words)}; the last repeat"), fontsize=11)
    problem = ", ".join([*section_of(record, "problem")[:4], *section_of(record, "product")[:1]])[:70]
    axes.set_title(printable(problem), fontsize=8, loc="left")
    figure.savefig(path)


def draw_timeline(record, axes, ranks):
    """A lane for each activity of a rank; each bar is one product or one transfer."""
    names = activities(record)
    lane = HEIGHT / len(names)
    colours = dict(zip((name for name in names if name not in COMPUTES), (PARTS["wait"], PARTS["pack"], *PALETTE[2:])))
    for order, name in enumerate(names):
        for place, rank in enumerate(ranks):
            bars = [(row["begin"], row["end"] - row["begin"]) for row in record.timeline if row["rank"] == rank and row["activity"] == name]
            axes.broken_barh(bars, (place - HEIGHT / 2 + order * lane, 0.9 * lane), facecolor=colours.get(name, PARTS["compute"]),
                             edgecolor="white", linewidth=0.5, label=name if place == 0 else None)
    axes.set_yticks(range(len(ranks)), [f"rank {rank}" for rank in ranks])
    axes.set_ylim(len(ranks) - 0.5, -0.5)
    axes.set_xlabel("time since the steps began")
    axes.xaxis.set_major_formatter(EngFormatter("s"))
    axes.legend(frameon=False, ncols=len(names), loc="lower right", bbox_to_anchor=(1, 1))

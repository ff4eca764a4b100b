# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps of a run on one axis of time: what each rank computed, and what travelled meanwhile."""

from matplotlib.ticker import EngFormatter

from .drawing import PARTS, STYLE, plt, save
from .text import seconds

LANES = (("compute", -0.36, PARTS["compute"]), ("transfer", 0.04, PARTS["wait"]))  # of a rank: name, top, colour
HEIGHT = 0.32
MOST_RANKS = 32


def plot_timeline(record, path):
    ranks = sorted({row["rank"] for row in record.steps})
    shown = ranks[:MOST_RANKS]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(10, 1.6 + 0.55 * len(shown)))
        draw_timeline(record, axes, shown)
        run = record.run
        left_out = f"; ranks {shown[0]} to {shown[-1]} of {len(ranks)}" if len(shown) < len(ranks) else ""
        overlap = "" if "overlap" not in run else ", overlap " + ("on" if run["overlap"] else "off")
        figure.suptitle(f"{run.get('app', '')}: {run.get('backend', '?')}{overlap}, {len(ranks)} ranks; "
                        f"last repeat, steps of {seconds(_end(record))}{left_out}", fontsize=11)
        save(figure, path)


def draw_timeline(record, axes, ranks):
    """Two lanes a rank; each bar is a step."""
    for name, top, colour in LANES:
        for place, rank in enumerate(ranks):
            bars = [(row[f"{name}_begin"], row[f"{name}_end"] - row[f"{name}_begin"])
                    for row in record.steps if row["rank"] == rank and row[f"{name}_end"] > row[f"{name}_begin"]]
            axes.broken_barh(bars, (place + top, HEIGHT), facecolor=colour, edgecolor="white", linewidth=0.6,
                             label=name if place == 0 else None)
    axes.set_yticks(range(len(ranks)), [f"rank {rank}" for rank in ranks])
    axes.set_ylim(len(ranks) - 0.5, -0.5)
    axes.set_xlabel("time since the first step began")
    axes.xaxis.set_major_formatter(EngFormatter("s"))
    axes.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))


def _end(record):
    return max(max(row["compute_end"], row["transfer_end"]) for row in record.steps)

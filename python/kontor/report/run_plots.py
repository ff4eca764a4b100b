# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of one run: its field; and the activities of its ranks on one axis of time, what each computed and what travelled meanwhile."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from .chart_plots import styled
from .colours import PALETTE, PARTS
from .deck import section_of
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


@styled
def plot_field(record, field, path):
    figure = _line(field) if field.values.ndim == 1 else _planes(field)
    time = f" at t = {field.time:.4g}" if field.time is not None else ""
    shown = " x ".join(str(extent) for extent in reversed(field.values.shape))
    run = record.run
    figure.suptitle(printable(f"{run.get('app', '')}: {field.name}{time}  ({shown} {field.places} shown, {run.get('ranks', '?')} ranks)"))
    figure.savefig(path)


def _line(field):
    figure = Figure(figsize=(7.5, 4))
    across = field.origin[0] + field.spacing[0] * (np.arange(field.values.size) + 0.5)
    axes = figure.subplots()
    axes.plot(across, field.values, color=PARTS["compute"])
    axes.set(xlabel="x", ylabel=_named(field))
    return figure


def _planes(field):
    """Of a field in space the three planes through the middle."""
    values = field.values
    ends = [(origin, origin + spacing * count) for origin, spacing, count in zip(field.origin, field.spacing, reversed(values.shape))]
    planes = [(values, 0, 1, "")]
    if values.ndim == 3:
        nz, ny, nx = values.shape
        at = [origin + spacing * (count // 2 + 0.5) for origin, spacing, count in zip(field.origin, field.spacing, (nx, ny, nz))]
        planes = [(values[nz // 2], 0, 1, f"z = {at[2]:.4g}"), (values[:, ny // 2], 0, 2, f"y = {at[1]:.4g}"),
                  (values[:, :, nx // 2], 1, 2, f"x = {at[0]:.4g}")]
    finite = values[np.isfinite(values)]
    least, most = (finite.min(), finite.max()) if finite.size else (0, 1)
    figure = Figure(figsize=(14, 4.6) if values.ndim == 3 else (6.4, 5.2))
    for axes, (plane, across, up, title) in zip(figure.subplots(1, len(planes), squeeze=False)[0], planes):
        image = axes.imshow(plane, origin="lower", extent=[*ends[across], *ends[up]], cmap="inferno", vmin=least, vmax=most)
        axes.spines[:].set_visible(True)
        axes.set(xlabel="xyz"[across], ylabel="xyz"[up], title=title)
    figure.colorbar(image, ax=axes, label=_named(field))
    return figure


def _named(field):
    return printable(f"{field.name} [{field.unit}]" if field.unit else field.name)

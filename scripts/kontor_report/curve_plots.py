# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of a run that measured times over message sizes."""

import numpy as np
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from .colours import PARTS, colours
from .curves import SPLIT, bandwidth, by, is_split
from .drawing import STYLE, legend_below, plt, save
from .text import seconds

COLUMNS = 3  # curves side by side, at most
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def plot_curves(record, path):
    with plt.rc_context(STYLE):
        figure = _bars(record.curves) if _compares_parts(record.curves) else _lines(record)
        figure.suptitle(f"{record.run.get('app', '')}: {record.run.get('ranks', '?')} ranks")
        save(figure, path)


def _compares_parts(rows):
    """Many series at few sizes: what matters is where the time of each goes, not how it grows."""
    return is_split(rows) and len(by("series", rows)) > len(by("size", rows))


def _lines(record):
    """Three plots below each other for each curve: time, bandwidth, ratio."""
    curves, ratios = by("curve", record.curves), by("curve", record.ratios)
    blocks = -(-len(curves) // COLUMNS)
    columns = -(-len(curves) // blocks)
    figure, axes = plt.subplots(3 * blocks, columns, figsize=(4.6 * columns, 7.5 * blocks), squeeze=False,
                                gridspec_kw={"height_ratios": [3, 2, 2] * blocks})
    all_series = list(by("series", record.curves))
    style = {series: {"color": colour, "marker": MARKERS[all_series.index(series) % len(MARKERS)], "markersize": 4, "linewidth": 1.2}
             for series, colour in colours(all_series).items()}
    cells = np.concatenate([axes[3 * block: 3 * block + 3].T for block in range(blocks)])  # three axes each
    for (time, rate, ratio), (name, rows) in zip(cells, curves.items()):
        time.set_title(name)
        _draw_times(time, rate, rows, style)
        _draw_ratios(ratio, ratios.get(name, []), style)
        for plot in (time, rate, ratio):
            plot.set_xscale("log")
            plot.set_xlim(time.get_xlim())
            _engineering(plot.xaxis, "B")
        ratio.set_xlabel("bytes")
    legend_below(figure, [time for time, _, _ in cells], 3 * columns)
    _hide(cells[len(curves):])
    return figure


def _draw_times(time, rate, rows, style):
    for series, points in by("series", rows).items():
        size = [row["bytes"] for row in points]
        errors = [row.get("standard_error", 0) for row in points]
        time.errorbar(size, [row["mean"] for row in points], errors, capsize=2, label=series, **style[series])
        rate.plot(size, [bandwidth(row) for row in points], **style[series])
    for plot, label, unit in ((time, "mean time", "s"), (rate, "bytes / mean time", "B/s")):
        plot.set(yscale="log", ylabel=label)
        _engineering(plot.yaxis, unit)


def _draw_ratios(axes, ratios, style):
    """The ratios to the baseline, with their confidence intervals: a band, or bars where it has no width."""
    axes.axhline(1, color="#999999", linewidth=1)
    for series, points in by("series", ratios).items():
        size, ratio, low, high = ([row[key] for row in points] for key in ("bytes", "ratio", "low", "high"))
        axes.fill_between(size, low, high, color=style[series]["color"], alpha=0.2, linewidth=0)
        axes.errorbar(size, ratio, np.abs(np.subtract([low, high], ratio)), elinewidth=0.6, **style[series])
    axes.set_ylabel(" and ".join(f"time / {name}" for name in by("baseline", ratios)) or "no ratio")


def _engineering(axis, unit):
    """Ticks of a logarithmic axis: 1 kB, 1 MB; with steps in between where the range is short."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,)))
    axis.set_major_formatter(EngFormatter(unit))
    axis.set_minor_formatter(NullFormatter())


def _bars(rows):
    """One plot for each curve and size: a bar for each series, of the parts of its time."""
    groups = {(name, size): points
              for name, curve in by("curve", rows).items() for size, points in by("size", curve).items()}
    columns = min(2, len(groups))
    lengths = [len(points) for points in groups.values()]
    heights = [max(lengths[first: first + columns]) + 3 for first in range(0, len(lengths), columns)]
    figure, axes = plt.subplots(len(heights), columns, figsize=(7 * columns, 0.25 * sum(heights) + 1.2), squeeze=False,
                                gridspec_kw={"height_ratios": heights})
    for plot, ((name, size), points) in zip(axes.flat, groups.items()):
        plot.set_title(f"{name}, size {size}")
        _draw_parts(plot, points)
    legend_below(figure, axes.flat[:1])
    _hide(axes.flat[len(groups):])
    return figure


def _draw_parts(axes, points):
    for place, row in enumerate(points):
        parts = {part: row.get(part, 0) for part in SPLIT}
        parts["other"] = max(0.0, row["median"] - sum(parts.values()))
        left = 0.0
        for part, length in parts.items():
            axes.barh(place, length, height=0.7, left=left, color=PARTS[part], label=part if place == 0 else None)
            left += length
        axes.text(left, place, f" {seconds(row['median'])}", va="center", fontsize=8)
    axes.set_yticks(range(len(points)), [row["series"] for row in points])
    axes.set_ylim(len(points) - 0.5, -0.5)
    axes.margins(x=0.15)
    axes.xaxis.set_major_formatter(EngFormatter("s"))


def _hide(cells):
    for axes in np.ravel(cells):
        axes.set_visible(False)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures: the field of one run, or the times and figures of merit of several."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.ticker import EngFormatter  # noqa: E402

from .compare import by_app, speed  # noqa: E402
from .record import PARTS  # noqa: E402
from .text import percent, quantity, seconds  # noqa: E402

# Okabe and Ito's colours: told apart by colour-blind readers too.
COLOURS = {"compute": "#0072B2", "pack": "#E69F00", "post": "#F0E442", "wait": "#D55E00", "unpack": "#CC79A7",
           "reduce": "#009E73", "other": "#999999"}
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True}


def plot_field(record, field, path):
    with plt.rc_context({**STYLE, "axes.spines.top": True, "axes.spines.right": True}):
        figure = _image(field) if field.values.ndim == 2 else _slices(field)
        time = f" at t = {field.time:.4g}" if field.time is not None else ""
        cells = " x ".join(str(extent) for extent in reversed(field.values.shape))
        run = record.run
        figure.suptitle(f"{run.get('app', '')}: {field.name}{time}  ({cells} cells shown, {run.get('ranks', '?')} ranks)")
        save(figure, path)


def _image(field):
    figure, axes = plt.subplots(figsize=(6.4, 5.2))
    _draw(figure, axes, field, field.values, "x", "y", _range(field.values))
    return figure


def _slices(field):
    """The three planes through the middle."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.6))
    nz, ny, nx = field.values.shape
    middle = [origin + spacing * (count // 2 + 0.5) for origin, spacing, count in zip(field.origin, field.spacing, (nx, ny, nz))]
    planes = [
        (field.values[nz // 2], "x", "y", f"z = {middle[2]:.4g}"),
        (field.values[:, ny // 2], "x", "z", f"y = {middle[1]:.4g}"),
        (field.values[:, :, nx // 2], "y", "z", f"x = {middle[0]:.4g}"),
    ]
    for axis, (values, across, up, title) in zip(axes, planes):
        _draw(figure, axis, field, values, across, up, _range(field.values), colour_bar=axis is axes[-1])
        axis.set_title(title)
    return figure


def _draw(figure, axes, field, values, across, up, limits, colour_bar=True):
    extent = []
    for direction, count in ((across, values.shape[1]), (up, values.shape[0])):
        index = "xyz".index(direction)
        extent += [field.origin[index], field.origin[index] + count * field.spacing[index]]
    image = axes.imshow(values, origin="lower", extent=extent, cmap="inferno", vmin=limits[0], vmax=limits[1])
    axes.set(xlabel=across, ylabel=up)
    if colour_bar:
        figure.colorbar(image, ax=axes, label=f"{field.name} [{field.unit}]" if field.unit else field.name)


def _range(values):
    finite = values[np.isfinite(values)]
    return (finite.min(), finite.max()) if finite.size else (0, 1)


def plot_comparison(records, path):
    groups = by_app(records)
    with plt.rc_context(STYLE):
        sizes = [len(group) for group in groups.values()]
        figure, axes = plt.subplots(len(groups), 2, figsize=(12, 1.6 + 0.5 * sum(sizes) + 0.9 * len(sizes)),
                                    squeeze=False, gridspec_kw={"height_ratios": [size + 1.5 for size in sizes]})
        for row, (app, group) in zip(axes, groups.items()):
            _times(row[0], app, group)
            _figures(row[1], group)
        legend_below(figure, axes.flat[:1])
        save(figure, path)


def _times(axes, app, group):
    for place, record in enumerate(group):
        left, total = 0.0, record.seconds or 0.0
        shares = {part: record.share(part) or 0.0 for part in PARTS}
        shares["other"] = max(0.0, 1 - sum(shares.values()))
        for part, share in shares.items():
            axes.barh(place, share * total, height=0.6, left=left, color=COLOURS[part], label=part if place == 0 else None)
            left += share * total
        axes.text(left, place, f" {seconds(record.seconds)}", va="center")
    axes.set_title(f"{app}: time of one repeat")
    axes.set_xlabel("seconds")
    axes.set_yticks(range(len(group)), [_label(record) for record in group])
    axes.set_ylim(len(group) - 0.5, -0.5)
    axes.margins(x=0.15)


def _figures(axes, group):
    shown = [record.figure for record in group if record.figure]
    names = sorted({figure["name"].replace("_", " ") for figure in shown})
    units = sorted({figure.get("unit", "") for figure in shown})
    axes.set_ylim(len(group) - 0.5, -0.5)
    for place, record in enumerate(group):
        figure = record.figure
        if not figure:
            axes.text(0, place, " none", va="center")
            continue
        axes.barh(place, figure["value"], height=0.6, color=COLOURS["compute"])
        ratio = speed(record, group[0])
        notes = [quantity(figure["value"], figure.get("unit", ""))]
        notes += [f"{percent(record.fraction)} of attainable"] if record.fraction is not None else []
        notes += [f"{ratio:.2f} x"] if ratio is not None and place else []
        axes.text(figure["value"], place, " " + ", ".join(notes), va="center")
    axes.set_title(", ".join(names) or "no figure of merit")
    axes.set_xlabel(", ".join(units))
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.set_yticks(range(len(group)), [])
    axes.set_xlim(0, 1.8 * max((figure["value"] for figure in shown), default=1))


def _label(record):
    run = record.run
    return f"{record.path}\n{run.get('backend', '?')}, {run.get('ranks', '?')} ranks"


def legend_below(figure, plots, columns=8):
    """One legend for all plots, of the colours in these: they are the same everywhere."""
    found = {label: handle for axes in plots for handle, label in zip(*axes.get_legend_handles_labels())}
    labels, handles = found.keys(), found.values()
    room = 0.4 * -(-len(labels) // columns) / figure.get_figheight()
    figure.get_layout_engine().set(rect=(0, room, 1, 1 - room))
    figure.legend(handles, labels, ncols=columns, loc="lower center", frameon=False)


def save(figure, path):
    figure.savefig(path, dpi=150)
    plt.close(figure)

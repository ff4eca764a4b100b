# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures: the field of one run, or the times and figures of merit of several."""

import textwrap

import numpy as np
from matplotlib.ticker import EngFormatter

from .colours import PARTS
from .compare import by_app, speed
from .convergence_plots import draw_convergence
from .deck import labels
from .drawing import STYLE, legend_below, plt, save
from .solves import is_solve
from .text import percent, quantity, seconds


def plot_field(record, field, path):
    with plt.rc_context({**STYLE, "axes.spines.top": True, "axes.spines.right": True}):
        figure = (_line, _image, _slices)[field.values.ndim - 1](field)
        time = f" at t = {field.time:.4g}" if field.time is not None else ""
        shown = " x ".join(str(extent) for extent in reversed(field.values.shape))
        run = record.run
        figure.suptitle(f"{run.get('app', '')}: {field.name}{time}  ({shown} {field.places} shown, {run.get('ranks', '?')} ranks)")
        save(figure, path)


def _line(field):
    figure, axes = plt.subplots(figsize=(7.5, 4))
    axes.plot(field.origin[0] + field.spacing[0] * (np.arange(field.values.size) + 0.5), field.values, color=PARTS["compute"])
    axes.set(xlabel="x", ylabel=_named(field))
    return figure


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
        figure.colorbar(image, ax=axes, label=_named(field))


def _named(field):
    return f"{field.name} [{field.unit}]" if field.unit else field.name


def _range(values):
    finite = values[np.isfinite(values)]
    return (finite.min(), finite.max()) if finite.size else (0, 1)


def plot_comparison(records, path):
    groups = by_app(records).items()
    curves = {app: any(record.history for record in group) and all(map(is_solve, group)) for app, group in groups}
    heights = [height for app, group in groups for height in ([7] * curves[app] + [len(group) + 1.5])]
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(12, 1 + 0.55 * sum(heights)))
        rows = iter(figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0])
        bars = []
        for app, group in groups:
            if curves[app]:
                draw_convergence(group, *next(rows).subplots(1, 2))
            left, right = next(rows).subplots(1, 2)
            _times(left, app, group)
            _figures(right, group)
            bars.append(left)
        legend_below(figure, bars)
        save(figure, path)


def _times(axes, app, group):
    named = labels(group) if all(map(is_solve, group)) else [""] * len(group)
    parts = [part for part in PARTS if part == "other" or any(part in record.timers for record in group)]
    for place, record in enumerate(group):
        left, total = 0.0, record.seconds or 0.0
        shares = {part: record.share(part) or 0.0 for part in parts}
        shares["other"] = max(0.0, 1 - sum(shares.values()))
        for part, share in shares.items():
            axes.barh(place, share * total, height=0.6, left=left, color=PARTS[part], label=part if place == 0 else None)
            left += share * total
        ratio = speed(record, group[0]) if place and is_solve(record) else None
        axes.text(left, place, f" {seconds(record.seconds)}" + (f", {ratio:.2f} x" if ratio else ""), va="center")
    axes.set_title(f"{app}: time of one repeat")
    axes.set_xlabel("seconds")
    axes.set_yticks(range(len(group)), [_label(record, name) for record, name in zip(group, named)], fontsize=8 if any(named) else None)
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
        axes.barh(place, figure["value"], height=0.6, color=PARTS["compute"])
        ratio = None if is_solve(record) else speed(record, group[0])
        notes = [quantity(figure["value"], figure.get("unit", ""))]
        notes += [f"{percent(record.fraction)} of attainable"] if record.fraction is not None else []
        notes += [f"{ratio:.2f} x"] if ratio is not None and place else []
        axes.text(figure["value"], place, " " + ", ".join(notes), va="center")
    axes.set_title(", ".join(names) or "no figure of merit")
    axes.set_xlabel(", ".join(units))
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.set_yticks(range(len(group)), [])
    axes.set_xlim(0, 1.8 * max((figure["value"] for figure in shown), default=1))


def _label(record, name):
    run = record.run
    name = name or f"{run.get('backend', '?')}, {run.get('ranks', '?')} ranks"
    return f"{record.path}\n{textwrap.fill(name, 52)}"

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The field of a run."""

import numpy as np

from .colours import PARTS
from .drawing import STYLE, plt, save


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

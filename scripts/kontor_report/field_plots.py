# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The field of a run."""

import numpy as np
from matplotlib.figure import Figure

from .colours import PARTS
from .drawing import styled
from .text import printable


@styled
def plot_field(record, field, path):
    figure = (_line, _image, _slices)[field.values.ndim - 1](field)
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


def _image(field):
    figure = Figure(figsize=(6.4, 5.2))
    _draw(figure, figure.subplots(), field, field.values, "x", "y")
    return figure


def _slices(field):
    """The three planes through the middle."""
    figure = Figure(figsize=(14, 4.6))
    nz, ny, nx = field.values.shape
    middle = [origin + spacing * (count // 2 + 0.5) for origin, spacing, count in zip(field.origin, field.spacing, (nx, ny, nz))]
    planes = [
        (field.values[nz // 2], "x", "y", f"z = {middle[2]:.4g}"),
        (field.values[:, ny // 2], "x", "z", f"y = {middle[1]:.4g}"),
        (field.values[:, :, nx // 2], "y", "z", f"x = {middle[0]:.4g}"),
    ]
    for axes, (values, across, up, title) in zip(figure.subplots(1, 3), planes):
        _draw(figure, axes, field, values, across, up, colour_bar=across == "y")
        axes.set_title(title)
    return figure


def _draw(figure, axes, field, values, across, up, colour_bar=True):
    extent = []
    for direction, count in ((across, values.shape[1]), (up, values.shape[0])):
        index = "xyz".index(direction)
        extent += [field.origin[index], field.origin[index] + count * field.spacing[index]]
    finite = field.values[np.isfinite(field.values)]
    least, most = (finite.min(), finite.max()) if finite.size else (0, 1)
    image = axes.imshow(values, origin="lower", extent=extent, cmap="inferno", vmin=least, vmax=most)
    axes.spines[:].set_visible(True)
    axes.set(xlabel=across, ylabel=up)
    if colour_bar:
        figure.colorbar(image, ax=axes, label=_named(field))


def _named(field):
    return printable(f"{field.name} [{field.unit}]" if field.unit else field.name)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first field of a result: a line, or its plane, or the three planes through its middle, as charts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .colours import PALETTE
from .errors import RecordError, read_as_damaged
from .hdf5 import attributes, check_values, open_run
from .report_parts import Chart, Image, Line

MOST = 1024  # values kept in each direction


@dataclass
class Field:
    name: str
    values: Any  # array (nx), (ny, nx) or (nz, ny, nx)
    places: str  # what they belong to: cells, points, or just values where the file does not say
    unit: str
    time: float | None  # None if the file does not say
    origin: tuple[float, ...]  # x(, y, z); the first value stands half a spacing further
    spacing: tuple[float, ...]  # x(, y, z), between the values kept


def read_field(path: str) -> Field | None:
    """None where there is no field."""
    if path.endswith(".json"):
        return None
    with read_as_damaged(path), open_run(path) as file:
        fields = file.get("fields")
        if not fields:
            return None
        name = sorted(fields)[0]
        data = fields[name]
        if data.ndim not in (1, 2, 3):
            raise RecordError(f"{path}: /fields/{name} has {data.ndim} dimensions; 1 to 3 can be plotted")
        check_values(data)
        step = max(1, -(-max(data.shape) // MOST))
        about, grid = attributes(data), attributes(file.get("VTKHDF"))
        place = next((what for what in ("cell", "point") if f"VTKHDF/{what.title()}Data/{name}" in file), "value")
        spacing = tuple(step * width for width in grid.get("Spacing", (1, 1, 1)))[: data.ndim]
        before = [width / 2 if place == "point" else 0 for width in spacing]
        origin = tuple(at - half for at, half in zip(grid.get("Origin", (0, 0, 0)), before))
        return Field(name, data[(slice(None, None, step),) * data.ndim], f"{place}s", about.get("unit", ""), about.get("time"), origin, spacing)


def field_charts(field: Field | None) -> list[Chart]:
    if field is None:
        return []
    values, label = field.values, f"{field.name} [{field.unit}]" if field.unit else field.name
    time = f" at t = {field.time:.4g}" if field.time is not None else ""
    title = f"{field.name}{time}  ({' x '.join(map(str, reversed(values.shape)))} {field.places} shown)"
    if values.ndim == 1:
        across = field.origin[0] + field.spacing[0] * (np.arange(values.size) + 0.5)
        return [Chart(title, "x", label, [Line(field.name, PALETTE[0], list(across), list(values), ideal=True)])]
    ends = [(origin, origin + spacing * count) for origin, spacing, count in zip(field.origin, field.spacing, reversed(values.shape))]
    finite = values[np.isfinite(values)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    charts = []
    for plane, across_axis, up, where in _planes(field):
        image = Image(plane, (*ends[across_axis], *ends[up]), label, least, most)
        charts.append(Chart(title + where, "xyz"[across_axis], "xyz"[up], image=image))
    return charts


def _planes(field: Field) -> list[tuple[Any, int, int, str]]:
    """Values, the axes across and up, and where the plane lies."""
    if field.values.ndim == 2:
        return [(field.values, 0, 1, "")]
    middle = [count // 2 for count in field.values.shape]
    planes = []
    for axis in range(3):  # of the array: z, y, x
        across, up = [2 - other for other in range(3) if other != axis][::-1]
        place = 2 - axis
        at = field.origin[place] + field.spacing[place] * (middle[axis] + 0.5)
        planes.append((np.take(field.values, middle[axis], axis), across, up, f", {'xyz'[place]} = {at:.4g}"))
    return planes

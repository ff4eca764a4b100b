# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first field of a result: a line, or its plane, or the three planes through its middle, as charts."""

from typing import Any, NamedTuple

import numpy as np

from .colours import PALETTE
from .errors import RecordError, read_as_damaged
from .hdf5 import attributes, check_values, open_run
from .report_parts import Chart, Image, Line

MOST = 1024  # values kept in each direction


class Field(NamedTuple):
    name: str
    values: Any  # array (nx), (ny, nx) or (nz, ny, nx)
    places: str  # what they belong to: cells, points, or just values where the file does not say
    unit: str
    time: float | None  # None if the file does not say
    origin: tuple[float, ...]  # x(, y, z); the first value stands half a spacing further
    spacing: tuple[float, ...]  # x(, y, z), between the values kept

    def at(self, axis: int, number: float) -> float:
        """Where the value of that number stands."""
        return self.origin[axis] + self.spacing[axis] * (number + 0.5)


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
        half = 0.5 if place == "point" else 0
        origin = tuple(at - half * width for at, width in zip(grid.get("Origin", (0, 0, 0)), spacing))
        values = data[(slice(None, None, step),) * data.ndim]
        return Field(name, values, f"{place}s", about.get("unit", ""), about.get("time"), origin, spacing)


def field_charts(field: Field | None) -> list[Chart]:
    if field is None:
        return []
    values, label = field.values, f"{field.name} [{field.unit}]" if field.unit else field.name
    time = f" at t = {field.time:.4g}" if field.time is not None else ""
    title = f"{field.name}{time}  ({' x '.join(map(str, reversed(values.shape)))} {field.places} shown)"
    if values.ndim == 1:
        places = [field.at(0, number) for number in range(values.size)]
        return [Chart(title, "x", label, [Line(field.name, PALETTE[0], places, list(values), ideal=True)])]
    finite = values[np.isfinite(values)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    ends = [(field.at(axis, -0.5), field.at(axis, count - 0.5)) for axis, count in enumerate(reversed(values.shape))]
    charts = []
    for across, up in ((0, 1), (0, 2), (1, 2)) if values.ndim == 3 else ((0, 1),):
        plane, where = values, ""
        if values.ndim == 3:
            axis = 3 - across - up
            middle = values.shape[2 - axis] // 2
            plane, where = np.take(values, middle, 2 - axis), f", {'xyz'[axis]} = {field.at(axis, middle):.4g}"
        charts.append(Chart(title + where, "xyz"[across], "xyz"[up],
                            image=Image(plane, (*ends[across], *ends[up]), label, least, most)))
    return charts

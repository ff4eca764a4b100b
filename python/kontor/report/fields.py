# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first field of a result: a line, or its plane, or the three planes through its middle, as charts. Nothing else
needs h5py."""

import os
from typing import Any, NamedTuple

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"  # under its name a file is whole, and not every file system has locks

import h5py  # noqa: E402
import numpy as np  # noqa: E402

from .parts import PALETTE, Chart, Image, Line  # noqa: E402
from .record import RecordError, read_as_damaged, read_json  # noqa: E402

MOST = 1024  # values kept in each direction of a field


class Field(NamedTuple):
    name: str
    values: Any  # array (nx), (ny, nx) or (nz, ny, nx)
    places: str  # what they belong to: cells, points, or just values where the file does not say
    origin: tuple[float, ...]  # x(, y, z); the first value stands half a spacing further
    spacing: tuple[float, ...]  # x(, y, z), between the values kept

    def at(self, axis: int, number: float) -> float:
        """Where the value of that number stands."""
        return self.origin[axis] + self.spacing[axis] * (number + 0.5)


def read_field(path: str) -> Field | None:
    """None where there is no field. All bytes of the file are those that were written."""
    read_json(path, whole=True)
    with read_as_damaged(path), h5py.File(path, "r") as file:
        if "fields" not in file:
            return None
        group = _own(file, "fields")
        name = sorted(group)[0]
        data = _own(group, name)
        if data.external or data.is_virtual:
            raise RecordError(f"{path}: the values of {data.name} are in another file, which is not read")
        if data.ndim not in (1, 2, 3):
            raise RecordError(f"{path}: {data.name} has {data.ndim} dimensions; 1 to 3 can be plotted")
        step = max(1, -(-max(data.shape) // MOST))
        grid = file["VTKHDF"].attrs if "VTKHDF" in file else {}
        place = next((what for what in ("cell", "point") if f"VTKHDF/{what.title()}Data/{name}" in file), "value")
        spacing = tuple(step * float(width) for width in grid.get("Spacing", (1, 1, 1)))[: data.ndim]
        half = 0.5 if place == "point" else 0
        origin = tuple(float(at) - half * width for at, width in zip(grid.get("Origin", (0, 0, 0)), spacing))
        return Field(name, data[(slice(None, None, step),) * data.ndim], f"{place}s", origin, spacing)


def _own(group: Any, name: str) -> Any:
    """A member of this file: h5py would follow a link to any file."""
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise RecordError(f"{group.file.filename}: {name} is a link to another object or file, which is not read")
    return group[name]


def field_charts(field: Field | None) -> list[Chart]:
    if field is None:
        return []
    values = field.values
    title = f"{field.name}  ({' x '.join(map(str, reversed(values.shape)))} {field.places} shown)"
    if values.ndim == 1:
        places = [field.at(0, number) for number in range(values.size)]
        return [Chart(title, "x", field.name, [Line(field.name, PALETTE[0], places, list(values), ideal=True)])]
    ends = [(field.at(axis, -0.5), field.at(axis, count - 0.5)) for axis, count in enumerate(reversed(values.shape))]
    charts = []
    for across, up in ((0, 1), (0, 2), (1, 2)) if values.ndim == 3 else ((0, 1),):
        plane, where = values, ""
        if values.ndim == 3:
            axis = 3 - across - up
            middle = values.shape[2 - axis] // 2
            plane, where = np.take(values, middle, 2 - axis), f", {'xyz'[axis]} = {field.at(axis, middle):.4g}"
        image = Image(np.where(np.isfinite(plane), plane, np.nan), (*ends[across], *ends[up]), field.name)
        charts.append(Chart(title + where, "xyz"[across], "xyz"[up], image=image))
    return charts

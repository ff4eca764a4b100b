# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first field of a result on a grid: its plane, or the plane through its middle, as a chart. Nothing else needs
h5py."""

import os
from typing import Any

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"  # under its name a file is whole, and not every file system has locks

import h5py  # noqa: E402

from .parts import Chart, Image  # noqa: E402
from .record import RecordError, read_as_damaged, read_json  # noqa: E402

MOST = 1024  # values drawn in each direction of a field


def field_charts(path: str) -> list[Chart]:
    """None where there is no field on a grid. All bytes of the file are those that were written."""
    read_json(path, whole=True)
    with read_as_damaged(path), h5py.File(path, "r") as file:
        if "fields" not in file or "VTKHDF" not in file:
            return []
        group, grid = _own(file, "fields"), _own(file, "VTKHDF")
        name = min(group)
        data = _own(group, name)
        if data.external or data.is_virtual:
            raise RecordError(f"{path}: the values of {data.name} are in another file, which is not read")
        if "Spacing" not in grid.attrs or data.ndim not in (2, 3):
            return []
        return [_chart(name, data, grid.attrs["Origin"], grid.attrs["Spacing"], f"PointData/{name}" in grid)]


def _own(group: Any, name: str) -> Any:
    """A member of this file: h5py would follow a link to any file."""
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise RecordError(f"{group.file.filename}: {name} is a link to another object or file, which is not read")
    return group[name]


def _chart(name: str, data: Any, origin: Any, spacing: Any, at_points: bool) -> Chart:
    """`origin` and `spacing` are x, y, z of a mesh whose points or cells have the values (ny, nx) or (nz, ny, nx)."""
    begin = [float(at - width / 2 if at_points else at) for at, width in zip(origin, spacing)]
    title = f"{name}  ({' x '.join(map(str, reversed(data.shape)))} {'points' if at_points else 'cells'})"
    step = max(1, -(-max(data.shape) // MOST))
    values = data[(slice(None, None, step),) * data.ndim]
    if values.ndim == 3:
        middle = len(values) // 2
        title += f", z = {begin[2] + spacing[2] * (step * middle + 0.5):.4g}"
        values = values[middle]
    ends = [(begin[axis], begin[axis] + spacing[axis] * step * count) for axis, count in enumerate(values.shape[::-1])]
    return Chart(title, "x", "y", image=Image(values, (*ends[0], *ends[1]), name))

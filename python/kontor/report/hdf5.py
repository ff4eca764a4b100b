# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first field of a result: a line, or its plane, or the three planes through its middle, as charts.

Files are read without locks: under its name a file is whole, and not every file system has locks."""

import os
from typing import Any, NamedTuple

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"  # before the library is loaded; so that old and new h5py do it alike

import h5py  # noqa: E402
import numpy as np  # noqa: E402

from .colours import PALETTE  # noqa: E402
from .errors import RecordError, read_as_damaged  # noqa: E402
from .report_parts import Chart, Image, Line  # noqa: E402
from .stored import read_json  # noqa: E402
from .text import printable  # noqa: E402

MOST = 1024  # values kept in each direction of a field
PACKED = 1100  # bytes that one byte of a compressed dataset may become, at most


def open_run(path: str) -> Any:
    """An open file of a run, all bytes of which are those that were written; RecordError if it is none, or has parts of
    itself elsewhere."""
    read_json(path, whole=True)
    file = h5py.File(path, "r")
    if wrong := link_to_another(file):
        file.close()
        raise RecordError(f"{path}: {wrong}")
    return file


def link_to_another(file: Any) -> str | None:
    """What is wrong with a link that leads out of an open HDF5 file, or None: h5py would follow it to any file."""
    inside = (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT)
    found = file.id.links.visit(lambda name, info: None if info.type in inside else name, info=True)
    if not found:
        return None
    link = file.get(found, getlink=True)
    to = f"{link.path} of {link.filename}" if isinstance(link, h5py.ExternalLink) else "something"
    return (f"{printable(found.decode(errors='replace'))} is a link to {printable(to)}, another file, which is not "
            "read: a run's file has all in itself; h5copy puts it there")


def check_values(data: Any) -> None:
    """Before the values of a dataset are read: they must be in its file, readable, and not more than the file can have.
    A damaged extent may ask for all memory there is."""
    path = data.file.filename
    if data.external or data.is_virtual:
        raise RecordError(f"{path}: the values of {data.name} are in another file, which is not read: a run's file has "
                          "all in itself; h5repack puts them there")
    creation = data.id.get_create_plist()
    for code, _, _, name in map(creation.get_filter, range(creation.get_nfilters())):
        if not h5py.h5z.filter_avail(code):
            name = printable(name.decode(errors="replace")) or "no name"
            raise RecordError(f"{path}: {data.name} is compressed by filter {code} ({name}), which this Python's HDF5 "
                              "lacks: HDF5_PLUGIN_PATH names the folder of its plugin; or, where the filter is, "
                              "`h5repack -f NONE` takes it off")
    size, room = data.size * data.dtype.itemsize, os.path.getsize(path)
    if size > room * (PACKED if data.chunks else 1):
        raise ValueError(f"{data.name} claims {size} bytes of a file of {room}")


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
        grid = file["VTKHDF"].attrs if "VTKHDF" in file else {}
        place = next((what for what in ("cell", "point") if f"VTKHDF/{what.title()}Data/{name}" in file), "value")
        spacing = tuple(step * float(width) for width in grid.get("Spacing", (1, 1, 1)))[: data.ndim]
        half = 0.5 if place == "point" else 0
        origin = tuple(float(at) - half * width for at, width in zip(grid.get("Origin", (0, 0, 0)), spacing))
        values = data[(slice(None, None, step),) * data.ndim]
        return Field(name, values, f"{place}s", origin, spacing)


def field_charts(field: Field | None) -> list[Chart]:
    if field is None:
        return []
    values = field.values
    title = f"{field.name}  ({' x '.join(map(str, reversed(values.shape)))} {field.places} shown)"
    if values.ndim == 1:
        places = [field.at(0, number) for number in range(values.size)]
        return [Chart(title, "x", field.name, [Line(field.name, PALETTE[0], places, list(values), ideal=True)])]
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
                            image=Image(plane, (*ends[across], *ends[up]), field.name, least, most)))
    return charts

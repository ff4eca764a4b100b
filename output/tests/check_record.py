# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads with h5py what record_test wrote. Usage: check_record.py <folder>"""

import json
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import h5py
import numpy as np


def equal(found, expected, what):
    assert np.array_equal(found, expected), f"{what}: {found!r} instead of {expected!r}"


def numbered(shape, dtype):
    return np.arange(1, np.prod(shape) + 1).reshape(shape).astype(dtype)


def check_all(file):
    equal(file["run"].shape, (), "extents of the record")
    equal(json.loads(file["run"][()]), {"title": "plaque d'été", "ratio": 0.1, "infinite": None}, "the record")
    for name, shape, dtype in (
        ("fields/line", (17,), "f8"), ("fields/rows", (13, 7), "f8"), ("fields/columns", (13, 7), "f4"),
        ("fields/slabs", (6, 5, 11), "f8"), ("fields/bars", (6, 5, 11), "f4"), ("fields/sticks", (6, 5, 11), "i4"),
        ("checkpoint/deep/index", (6, 5, 11), "i8"), ("fields/large", (1300, 4099), "f8"),
    ):
        equal(file[name].dtype, np.dtype(dtype), name)
        equal(file[name], numbered(shape, dtype), name)


STRANGE = 'a<b & "c"'  # a name
# Of a mesh of 6 x 4 x 3 cells: name, factor, type, whether of points.
FIELDS = {"u": (1, "f8", False), "v": (-2, "f8", False), "p": (3, "f4", True), "q": (-1, "i8", True)}


def values(name, dimensions):
    factor, dtype, points = FIELDS[name]
    shape = tuple(n + points for n in (3, 4, 6)[3 - dimensions :])
    return (factor * numbered(shape, "i8")).astype(dtype)


def shown(name, dimensions):
    """What VTK has of it, always in three dimensions: of one layer of cells beyond those of the mesh."""
    of_mesh = values(name, dimensions)
    layers = (1 + FIELDS[name][2],) * (3 - dimensions)
    return np.broadcast_to(of_mesh, (*layers, *of_mesh.shape))


def check_vtkhdf(file, dimensions, names):
    group, series = file["VTKHDF"], names == "uv"  # one field, of two datasets
    kind = group.attrs.get_id("Type")
    assert kind.get_type().get_cset() == h5py.h5t.CSET_ASCII and not kind.get_type().is_variable_str()
    equal(kind.get_storage_size(), len("ImageData"), "bytes of Type")
    whole = [0, 6, 0, 4 if dimensions > 1 else 1, 0, 3 if dimensions > 2 else 1]
    for name, value in (
        ("Type", b"ImageData"), ("Version", [1 + series, 0]), ("WholeExtent", whole), ("Origin", [1, 2, 3]),
        ("Spacing", spacing(dimensions)), ("Direction", np.eye(3).ravel()),
    ):
        equal(group.attrs[name], value, name)
    found = {name: where for where in ("PointData", "CellData") if where in group for name in group[where]}
    if series:
        equal(found, {STRANGE: "CellData"}, "fields")
        equal(group["CellData"][STRANGE], np.stack([shown(name, dimensions) for name in names]), "series")
        equal(group["Steps"].attrs["NSteps"], 2, "NSteps")
        equal(group["Steps/Values"], [0, 0.5], "times")
        begins = group["Steps/CellDataOffsets"][STRANGE]
        equal(begins, [0, 1], "offsets")
        equal(begins.dtype, np.int64, "type of offsets")
        return
    assert "Steps" not in group
    equal(found, {name: "PointData" if FIELDS[name][2] else "CellData" for name in names}, "fields")
    for name in names:
        dataset = group[found[name]][name]
        equal(dataset.dtype, values(name, dimensions).dtype, f"type of {name}")
        equal(dataset, shown(name, dimensions), name)


def spacing(dimensions):
    """As thick as the cells are wide."""
    own = [0.5, 0.25, 0.125][:dimensions]
    return own + [min(own)] * (3 - dimensions)


def check_grid(grid, file, dimensions, names):
    """One mesh of the XDMF file, which has the fields of these names."""
    layers = "1" if dimensions < 3 and all(FIELDS[name][2] for name in names) else "2"
    points = [layers] * (3 - dimensions) + ["4", "5", "7"][3 - dimensions :]
    equal(grid.find("Topology").get("Dimensions"), " ".join(points), "points")
    origin, widths = (item.text for item in grid.findall("Geometry/DataItem"))
    equal(origin, "3 2 1", "origin")
    equal(widths, " ".join(map(str, reversed(spacing(dimensions)))), "spacing")
    for attribute, name in zip(grid.findall("Attribute"), names, strict=True):
        assert attribute.get("Name") in (name, STRANGE), attribute.get("Name")
        equal(attribute.get("Center"), "Node" if FIELDS[name][2] else "Cell", "centering")
        item, wanted = attribute.find("DataItem"), values(name, dimensions)
        kind = {"Float": "f", "Int": "i"}[item.get("NumberType")] + item.get("Precision")
        equal(np.dtype(kind), wanted.dtype, f"type of {name}")
        extents = [int(n) for n in item.get("Dimensions").split()]
        equal([n for n in extents if n > 1], [n for n in wanted.shape if n > 1], "extents")
        of, dataset = item.text.split(":")
        equal(of, Path(file.filename).name, "file")
        equal(file[dataset], wanted, dataset)


def check_image(path, dimensions, names):
    domain = xml.parse(path.with_suffix(".xmf")).getroot().find("Domain")
    with h5py.File(path) as file:
        check_vtkhdf(file, dimensions, names)
        if names != "uv":
            check_grid(domain.find("./Grid[@GridType='Uniform']"), file, dimensions, names)
            return
        grids = domain.findall("./Grid[@CollectionType='Temporal']/Grid")
        equal([float(grid.find("Time").get("Value")) for grid in grids], [0.0, 0.5], "times")
        for grid, name in zip(grids, names):
            check_grid(grid, file, dimensions, name)


folder = Path(sys.argv[1])
with h5py.File(folder / "all.h5") as all_fields:
    check_all(all_fields)
for n in 1, 2, 3:
    for what, fields in ("cells", "uv"), ("points", "pq"):
        check_image(folder / f"{what}{n}d.h5", n, fields)
check_image(folder / "both3d.h5", 3, "uvpq")
print(f"{folder}: all values and types as written")

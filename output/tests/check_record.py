# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads with h5py what record_test wrote. Usage: check_record.py <folder>"""

import json
import pathlib
import sys
import xml.etree.ElementTree as xml

import h5py
import numpy as np


def equal(found, expected, what):
    assert np.array_equal(found, expected), f"{what}: {found!r} instead of {expected!r}"


def numbered(shape, dtype):
    return np.arange(1, np.prod(shape) + 1).reshape(shape).astype(dtype)


def check_record(file):
    equal(file["run"].shape, (), "extents of the record")
    found = json.loads(file["run"][()])
    assert found == {"title": "plaque d'été", "ratio": 0.1, "infinite": None}, found


def check_fields(file):
    fields = {
        "fields/line": ((17,), "f8"),
        "fields/rows": ((13, 7), "f8"),
        "fields/columns": ((13, 7), "f4"),
        "fields/slabs": ((6, 5, 11), "f8"),
        "fields/bars": ((6, 5, 11), "f4"),
        "fields/sticks": ((6, 5, 11), "i4"),
        "checkpoint/deep/index": ((6, 5, 11), "i8"),
        "fields/large": ((1300, 4099), "f8"),
    }
    for name, (shape, dtype) in fields.items():
        equal(file[name].dtype, np.dtype(dtype), name)
        equal(file[name], numbered(shape, dtype), name)


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


def check_vtkhdf(path, dimensions, names):
    series = names == "uv"  # one field, of two datasets
    with h5py.File(path) as file:
        group = file["VTKHDF"]
        kind = group.attrs.get_id("Type")
        assert kind.get_type().get_cset() == h5py.h5t.CSET_ASCII and not kind.get_type().is_variable_str()
        equal(kind.get_storage_size(), len("ImageData"), "bytes of Type")
        equal(group.attrs["Type"], b"ImageData", "Type")
        equal(group.attrs["Version"], [1 + series, 0], "Version")
        whole = [0, 6, 0, 4 if dimensions > 1 else 1, 0, 3 if dimensions > 2 else 1]
        equal(group.attrs["WholeExtent"], whole, "WholeExtent")
        equal(group.attrs["Origin"], [1, 2, 3], "Origin")
        equal(group.attrs["Spacing"], spacing(dimensions), "Spacing")
        equal(group.attrs["Direction"], np.eye(3).ravel(), "Direction")
        found = {name: where for where in ("PointData", "CellData") if where in group for name in group[where]}
        if series:
            equal(list(found), ['a<b & "c"'], "fields")
            dataset = group["CellData"]['a<b & "c"']
            equal(dataset, np.stack([shown(name, dimensions) for name in names]), "series")
            equal(group["Steps"].attrs["NSteps"], 2, "NSteps")
            equal(group["Steps/Values"], [0, 0.5], "times")
            begins = group["Steps/CellDataOffsets"]['a<b & "c"']
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


def check_grid(grid, path, dimensions, names):
    """One mesh of the XDMF file, which has the fields of these names."""
    of_points = {FIELDS[name][2] for name in names}
    layers = "1" if dimensions < 3 and of_points == {True} else "2"
    points = ["4", "5", "7"]
    points[: 3 - dimensions] = [layers] * (3 - dimensions)
    equal(grid.find("Topology").get("Dimensions"), " ".join(points), "points")
    origin, widths = (item.text for item in grid.findall("Geometry/DataItem"))
    equal(origin, "3 2 1", "origin")
    equal(widths, " ".join(map(str, reversed(spacing(dimensions)))), "spacing")
    for attribute, name in zip(grid.findall("Attribute"), names, strict=True):
        assert attribute.get("Name") in (name, 'a<b & "c"'), attribute.get("Name")
        equal(attribute.get("Center"), "Node" if FIELDS[name][2] else "Cell", "centering")
        item, wanted = attribute.find("DataItem"), values(name, dimensions)
        kind = {"Float": "f", "Int": "i"}[item.get("NumberType")] + item.get("Precision")
        equal(np.dtype(kind), wanted.dtype, f"type of {name}")
        equal([int(n) for n in item.get("Dimensions").split() if n != "1"], [n for n in wanted.shape if n != 1], "extents")
        file, dataset = item.text.split(":")
        with h5py.File(path.parent / file) as data:
            equal(data[dataset], wanted, dataset)


def check_image(folder, dimensions):
    for what, names in [("cells", "uv"), ("points", "pq")] + [("both", "uvpq")] * (dimensions == 3):
        path = folder / f"{what}{dimensions}d.h5"
        check_vtkhdf(path, dimensions, names)
        domain = xml.parse(path.with_suffix(".xmf")).getroot().find("Domain")
        if what == "cells":
            grids = domain.findall("./Grid[@CollectionType='Temporal']/Grid")
            equal([float(grid.find("Time").get("Value")) for grid in grids], [0.0, 0.5], "times")
            meshes = [(grids[0], "u"), (grids[1], "v")]
        else:
            meshes = [(domain.find("./Grid[@GridType='Uniform']"), names)]
        for grid, shown in meshes:
            check_grid(grid, path, dimensions, shown)


def main(folder):
    with h5py.File(folder / "all.h5") as file:
        check_record(file)
        check_fields(file)
    for dimensions in 1, 2, 3:
        check_image(folder, dimensions)
    print(f"{folder}: all values and types as written")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

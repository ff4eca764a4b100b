# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads with h5py what record_test wrote. Usage: check_record.py <folder>"""

import pathlib
import sys
import xml.etree.ElementTree as xml

import h5py
import numpy as np


def equal(found, expected, what):
    assert np.array_equal(found, expected), f"{what}: {found!r} instead of {expected!r}"


def text(found, expected, what):
    assert type(found) is str, f"{what} is {type(found)}, not str"
    equal(found, expected, what)


def numbered(shape, dtype):
    return np.arange(1, np.prod(shape) + 1).reshape(shape).astype(dtype)


def check_record(file, ranks):
    run = file["run"]
    text(run.attrs["app"], "heat", "app")
    text(run.attrs["title"], "plaque d'été, 40 °C", "title")
    text(run.attrs["empty"], "", "empty")
    text(run.attrs["deck"], "#" * 100000, "deck")
    equal(run.attrs["ranks"], ranks, "ranks")
    equal(run.attrs["offset"], -3, "offset")
    equal(run.attrs["huge"], 2**64 - 1, "huge")
    equal(run.attrs["ratio"], 0.1, "ratio")
    equal(run.attrs["overlap"], 1, "overlap")
    assert run.attrs["overlap"].dtype == np.uint8
    equal(sorted(run.attrs), sorted("app title empty deck ranks offset huge ratio overlap hosts".split()), "attributes")
    assert list(run.attrs["hosts"]) == ["node-1", "node-22"], run.attrs["hosts"]

    equal(run["process_grid"], [2, 3], "process_grid")
    assert run["process_grid"].dtype == np.int64
    equal(run["mixed"], [1.0, 2.5], "mixed")
    assert run["none"].shape == (0,)
    equal(run["verification"].attrs["passed"], 1, "passed")
    text(run["verification"].attrs["measure"], "max norm", "measure")
    equal(run["history/iteration"], [0, 10, 20], "iteration")
    equal(run["history/residual"], [1.0, 0.5, 0.25], "residual")

    timers = run["timers"]
    equal(timers.dtype.names, ("region", "calls", "median", "slowest_rank"), "columns of timers")
    equal([name.decode() for name in timers["region"]], ["compute", "wait for halo"], "timers.region")
    equal(timers["calls"], [10, 20], "timers.calls")
    equal(timers["median"], [0.5, 0.25], "timers.median")
    assert timers.dtype["calls"] == np.int64 and timers.dtype["median"] == np.float64


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
    text(file["fields/rows"].attrs["unit"], "K", "unit")
    equal(file["fields/rows"].attrs["step"], 12, "step")
    equal(file["fields/rows"].attrs["spacing"], [0.5, 0.25], "spacing")


def check_image(path, dimensions):
    shape = (3, 4, 6)[3 - dimensions :]
    with h5py.File(path) as file:
        group = file["VTKHDF"]
        kind = group.attrs.get_id("Type")
        assert kind.get_type().get_cset() == h5py.h5t.CSET_ASCII and not kind.get_type().is_variable_str()
        equal(kind.get_storage_size(), len("ImageData"), "bytes of Type")
        equal(group.attrs["Type"], b"ImageData", "Type")
        equal(group.attrs["Version"], [1, 0], "Version")
        equal(group.attrs["WholeExtent"], [0, 6, 0, 4, 0, 3 if dimensions == 3 else 0], "WholeExtent")
        equal(group.attrs["Origin"], [1, 2, 3], "Origin")
        equal(group.attrs["Spacing"], [0.5, 0.25, 0.125], "Spacing")
        equal(group.attrs["Direction"], np.eye(3).ravel(), "Direction")
        equal(group["CellData/u"], numbered(shape, "f8"), "u")
        equal(group["CellData/v"], -2 * numbered(shape, "f8"), "v")
        assert group["CellData/u"] == file["fields/u"], "not the same dataset"

    root = xml.parse(path.with_suffix(".xmf")).getroot()
    grids = root.findall("./Domain/Grid[@CollectionType='Temporal']/Grid")
    equal([float(grid.find("Time").get("Value")) for grid in grids], [0.0, 0.5], "times")
    for grid, field, factor in zip(grids, ("u", "v"), (1, -2)):
        equal(grid.find("Topology").get("Dimensions"), "4 5 7" if dimensions == 3 else "2 5 7", "points")
        origin, spacing = (item.text for item in grid.findall("Geometry/DataItem"))
        equal(origin, "3 2 1", "origin")
        equal(spacing, "0.125 0.25 0.5", "spacing")
        attribute = grid.find("Attribute")
        equal(attribute.get("Name"), 'a<b & "c"', "name")
        name, dataset = attribute.find("DataItem").text.split(":")
        with h5py.File(path.parent / name) as file:
            equal(file[dataset], factor * numbered(shape, "f8"), dataset)


def main(folder):
    ranks = int(folder.name.split("_")[-1])
    for access in ("parallel", "gathered"):
        with h5py.File(folder / f"{access}.h5") as file:
            check_record(file, ranks)
            check_fields(file)
    check_image(folder / "image2d.h5", 2)
    check_image(folder / "image3d.h5", 3)
    print(f"{folder}: all values and types as written")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

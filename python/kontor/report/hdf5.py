# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HDF5 files of runs, read without locks: under its name a file is whole, and not every file system has locks."""

import os
from collections.abc import Mapping
from typing import Any

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"  # before the library is loaded; so that old and new h5py do it alike

import h5py  # noqa: E402
import numpy as np  # noqa: E402

from .errors import RecordError  # noqa: E402
from .text import printable  # noqa: E402

__all__ = ["attributes", "check_values", "h5py", "link_to_another", "open_run", "read_tree"]

ARRAYS = ("repeats", "iteration", "residual", "norm", "regions", "seconds", "wall", "hosts")  # no tables
DEEPEST = 2  # level of groups below /run
PACKED = 1100  # bytes that one byte of a compressed dataset may become, at most


def open_run(path: str) -> Any:
    """An open file of a run; RecordError if it is none, or has parts of itself elsewhere."""
    if not os.path.exists(path):
        raise RecordError(f"{path}: no such file")
    if path.endswith(".tmp"):
        raise RecordError(f"{path}: unfinished: the run is still going on or was killed; finished files end in .h5")
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise RecordError(f"{path}: cannot be opened: {error.strerror}") from error
    if not os.path.isfile(path) or not h5py.is_hdf5(path):
        raise RecordError(f"{path}: not an HDF5 file")
    file = h5py.File(path, "r")
    wrong = link_to_another(file)
    if not wrong and "run" not in file:
        wrong = "not a Kontor file: it has no group /run"
        if "checkpoint" in file:
            wrong = f"a checkpoint, which has no results; `kontor run {path} --restart` goes on from it"
    if wrong:
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


def read_tree(path: str) -> dict[str, Any]:
    """Group /run as --results writes it: attributes, groups and tables by name."""
    with open_run(path) as file:
        return _tree(file["run"])


def _tree(group: Any, depth: int = 0) -> dict[str, Any]:
    found = attributes(group)
    for name in sorted(group, key=lambda name: (len(name), name)):
        node = group[name]
        if isinstance(node, h5py.Group):
            found[name] = _tree(node, depth + 1) if depth < DEEPEST else {}
        elif node.dtype.names or name in ARRAYS:
            check_values(node)
            values, names = node[()], node.dtype.names
            found[name] = [_present(dict(zip(names, row))) for row in values] if names else values.tolist()
    return found


def attributes(node: Any) -> dict[str, Any]:
    """Of a group or dataset, or of None."""
    return _present(node.attrs) if node is not None else {}


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    """As plain Python values; not-a-numbers are left out."""
    plain = {key: _plain(value) for key, value in values.items()}
    return {key: value for key, value in plain.items() if value == value}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value] if value.ndim else _plain(value[()])
    if isinstance(value, h5py.Empty):
        return ""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value.item() if isinstance(value, np.generic) else value

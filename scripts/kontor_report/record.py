# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a run: what group /run of its HDF5 file says, as plain Python values."""

import os
from contextlib import contextmanager
from dataclasses import dataclass, field

import h5py
import numpy as np

from .expected import misfit
from .text import printable

COMMUNICATION = ("pack", "post", "wait", "unpack", "reduce", "sums_post", "sums_wait")
# The order in which parts of a repeat are shown; others follow.
PARTS = ("compute", "graph", "persistent", "device", "gemm", "spmv", "spmv_boundary", "vectors", "preconditioner", *COMMUNICATION)


class RecordError(Exception):
    """A file that cannot be read, with what is wrong and what to do."""


@contextmanager
def shown_as_damaged(*paths, but=()):
    """Makes any exception but these one line about the files. What a damaged file does to a reader has no end."""
    try:
        yield
    except (RecordError, *but):
        raise
    except Exception as error:  # pylint: disable=broad-except
        reason = printable(" ".join(str(error).split()))[:200] or type(error).__name__
        raise RecordError(f"{', '.join(paths)}: cannot be read, so the file is damaged: {reason}") from error


@dataclass
class Record:
    path: str
    run: dict  # attributes of /run
    figures: list = field(default_factory=list)  # of dicts, the primary figure first
    verification: dict = field(default_factory=dict)
    timers: dict = field(default_factory=dict)  # region -> dict
    repeats: list = field(default_factory=list)  # seconds
    traffic: list = field(default_factory=list)  # of dicts
    calibration: dict = field(default_factory=dict)
    curves: list = field(default_factory=list)  # of dicts: one point of one series of one curve each
    ratios: list = field(default_factory=list)  # of dicts: one series over another at one size each
    matrix: dict = field(default_factory=dict)  # attributes of /run/matrix
    solver: dict = field(default_factory=dict)  # what the method and its preconditioner tell, attributes of /run/solver
    timeline: list = field(default_factory=list)  # of dicts: when a rank did what
    history: dict = field(default_factory=dict)  # name, iterations, values; empty if there is none
    per_rank: dict = field(default_factory=dict)  # useful, regions, seconds[repeat][rank][region], wall[repeat][rank]
    volume: dict = field(default_factory=dict)  # bytes that all ranks send in a repeat, attributes of /run/volume
    memory: dict = field(default_factory=dict)  # bytes of all ranks, attributes of /run/memory
    checkpoint: dict = field(default_factory=dict)  # what was written and gone on from, attributes of /run/checkpoint

    @property
    def figure(self):
        """The primary figure of merit, or None."""
        return self.figures[0] if self.figures else None

    @property
    def fraction(self):
        """How much of what the machine can do; of the first figure that says so, or None."""
        return next((figure["fraction"] for figure in self.figures if "fraction" in figure), None)

    @property
    def passed(self):
        """True or False; None if the run did not verify."""
        passed = self.verification.get("passed")
        return None if passed is None else bool(passed)

    @property
    def seconds(self):
        """Median seconds of a repeat, or None."""
        if self.repeats:
            return float(np.median(self.repeats))
        return self.timers.get("total", {}).get("max")

    @property
    def parts(self):
        """The regions that the measured time of a repeat went to, in the order in which they are shown."""
        known = [region for region in PARTS if region in self.timers]
        others = [region for region in self.timers if region not in (*PARTS, "total")]
        return known + [region for region in others if not self.is_outside(region)]

    def is_outside(self, region):
        """Whether the region is no part of the measured time."""
        return region in ("io", "checkpoint") or bool(self.timers[region].get("once"))

    def share(self, *regions):
        """The regions' part of a repeat's time, or None. Medians over ranks."""
        total = self.timers.get("total", {}).get("median") or self.seconds
        if not total or not self.timers:
            return None
        return sum(self.timers[region]["median"] for region in regions if region in self.timers) / total


def read_record(path):
    """Of an HDF5 file of a run, or of the JSON that --results writes."""
    from .record_json import read_json

    record = read_json(path) if path.endswith(".json") else _read_hdf5(path)
    if wrong := misfit(record):
        raise RecordError(f"{path}: cannot be read, so the file is damaged: {wrong}")
    return record


def _read_hdf5(path):
    with shown_as_damaged(path), _open(path) as file:
        run = file["run"]
        return Record(
            path=path,
            run=_attributes(run),
            figures=figures_of(_attributes(run.get("figure_of_merit")), _members(run.get("figures_of_merit", {}))),
            verification=_attributes(run.get("verification")),
            timers={row.pop("region"): row for row in _rows(run.get("timers"))},
            repeats=_numbers(run.get("repeats")),
            traffic=_rows(run.get("traffic")),
            calibration=_attributes(run.get("calibration")),
            curves=_rows(run.get("curves")),
            ratios=_rows(run.get("ratios")),
            matrix=_attributes(run.get("matrix")),
            solver=_attributes(run.get("solver")),
            timeline=_rows(run.get("timeline")),
            history=_history(run.get("history")),
            per_rank=_per_rank(run.get("per_rank")),
            volume=_attributes(run.get("volume")),
            memory=_attributes(run.get("memory")),
            checkpoint=_attributes(run.get("checkpoint")),
        )


@dataclass
class Field:
    name: str
    values: np.ndarray  # (nx), (ny, nx) or (nz, ny, nx)
    places: str  # what they belong to: cells, points, or just values where the file does not say
    unit: str
    time: float  # None if the file does not say
    origin: tuple  # x(, y, z); the first value stands half a spacing further
    spacing: tuple  # x(, y, z), between the values kept


def read_field(path, most=1024):
    """The first field, thinned to at most `most` values in each direction."""
    with shown_as_damaged(path), _open(path) as file:
        fields = file.get("fields")
        if not fields:
            raise RecordError(f"{path}: no field in it (its deck has output.fields: none); --set output.fields=final writes one")
        name = sorted(fields)[0]
        data = fields[name]
        if data.ndim not in (1, 2, 3):
            raise RecordError(f"{path}: /fields/{name} has {data.ndim} dimensions; 1 to 3 can be plotted")
        _check_size(data)
        step = max(1, -(-max(data.shape) // most))
        attributes = _attributes(data)
        grid = _attributes(file.get("VTKHDF"))
        places = next((what for what in ("cell", "point") if f"VTKHDF/{what.title()}Data/{name}" in file), "value")
        spacing = [step * width for width in grid.get("Spacing", (1, 1, 1))][: data.ndim]
        before = [width / 2 if places == "point" else 0 for width in spacing]
        return Field(
            name=name,
            values=data[(slice(None, None, step),) * data.ndim],
            places=f"{places}s",
            unit=attributes.get("unit", ""),
            time=attributes.get("time"),
            origin=tuple(at - half for at, half in zip(grid.get("Origin", (0, 0, 0)), before)),
            spacing=tuple(spacing),
        )


def _open(path):
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
    if other := link_to_another(file):
        file.close()
        raise RecordError(f"{path}: {other} is a link to another file, which is not read: a run's file has all in itself")
    if "run" not in file:
        is_checkpoint = "checkpoint" in file
        file.close()
        if is_checkpoint:
            raise RecordError(f"{path}: a checkpoint, which has no results; `kontor run {path} --restart` goes on from it")
        raise RecordError(f"{path}: not a Kontor file: it has no group /run")
    return file


def link_to_another(file):
    """The name of a link that leads out of an open HDF5 file, or None. h5py would follow it to whatever file it names."""
    inside = (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT)
    found = file.id.links.visit(lambda name, info: None if info.type in inside else name, info=True)
    return printable(found.decode(errors="replace")) if found else None


def _members(group):
    return [_attributes(group[key]) for key in sorted(group, key=lambda key: (len(key), key))]


def figures_of(primary, others):
    figures = [primary] if primary else []
    figures += [figure for figure in others if figure.get("name") != primary.get("name")]
    for figure in figures:
        if "fraction" not in figure and figure.get("attainable"):
            figure["fraction"] = figure["value"] / figure["attainable"]
    return figures


def _numbers(data):
    if data is None:
        return []
    _check_size(data)
    return [float(number) for number in data[()]]


def _history(group):
    name = next((name for name in ("residual", "norm") if group is not None and name in group), None)
    if name is None:
        return {}
    iterations, values = _numbers(group.get("iteration")), _numbers(group[name])
    if len(iterations) != len(values):
        raise ValueError(f"{group.name} has {len(iterations)} iterations and {len(values)} values")
    return {"name": name, "iterations": [int(number) for number in iterations], "values": values} if values else {}


def _per_rank(group):
    found = _attributes(group)
    for name in ("seconds", "wall"):
        if group is not None and name in group:
            _check_size(group[name])
            found[name] = group[name][()].tolist()
    return found


def _attributes(node):
    return _present(node.attrs) if node is not None else {}


def _rows(table):
    if table is None:
        return []
    _check_size(table)
    return [_present(dict(zip(table.dtype.names, row))) for row in table[()]]


def _check_size(data):
    """Kontor's datasets lie in their file as they are: a damaged extent may ask for all memory there is, and others may name any file."""
    if data.external or data.is_virtual:
        raise ValueError(f"the values of {data.name} are in another file, which is not read")
    size, room = data.size * data.dtype.itemsize, os.path.getsize(data.file.filename)
    if size > room:
        raise ValueError(f"{data.name} claims {size} bytes of a file of {room}")


def _present(values):
    """As plain Python values; not-a-numbers are left out."""
    plain = {key: _plain(value) for key, value in values.items()}
    return {key: value for key, value in plain.items() if value == value}


def _plain(value):
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value] if value.ndim else _plain(value[()])
    if isinstance(value, h5py.Empty):
        return ""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value.item() if isinstance(value, np.generic) else value

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a run: what group /run of its HDF5 file says, as plain Python values."""

from dataclasses import dataclass, field

import numpy as np

from .errors import RecordError, read_as_damaged
from .expected import misfit
from .hdf5 import attributes, check_values, numbers, open_run, rows

# Parts of /run that a record has as they are: attributes, and rows.
GROUPS = ("verification", "calibration", "matrix", "solver", "volume", "memory", "checkpoint")
TABLES = ("traffic", "curves", "ratios", "timeline", "placement")
# What a region's time goes to, as the record says it.
WORK, PACKING, COMMUNICATION = "work", "packing", "communication"
# Of records that do not say it: those without `kind` in /run/timers. Other regions are work.
KINDS = {**dict.fromkeys(("pack", "unpack"), PACKING),
         **dict.fromkeys(("post", "wait", "reduce", "sums_post", "sums_wait", "broadcast", "skew", "restore", "replicate", "layer_sum",
                          "redistribute", "probes"), COMMUNICATION)}
LARGEST_FRACTION = 1.2  # of attainable, that a measurement may give
# The order in which parts of a repeat are shown; others follow.
PARTS = ("compute", "graph", "persistent", "device", "gemm", "spmv", "spmv_boundary", "vectors", "preconditioner",
         "pack", "post", "wait", "unpack", "reduce", "sums_post", "sums_wait")


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
    placement: list = field(default_factory=list)  # of dicts: the host and cores of a rank, and those of each of its threads
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
    def threads(self):
        """The most threads of a rank; 1 where kernels run on a device or the record does not say it."""
        return max((len(row.get("threads", "").split()) for row in self.placement), default=1) or 1

    @property
    def parts(self):
        """The regions that the measured time of a repeat went to, in the order in which they are shown."""
        known = [region for region in PARTS if region in self.timers]
        others = [region for region in self.timers if region not in (*PARTS, "total")]
        return known + [region for region in others if not self.is_outside(region)]

    def is_outside(self, region):
        """Whether the region is no part of the measured time."""
        return region in ("io", "checkpoint") or bool(self.timers[region].get("once"))

    def kind(self, region):
        """What the region's time goes to: WORK, PACKING or COMMUNICATION."""
        return self.timers.get(region, {}).get("kind") or KINDS.get(region, WORK)

    @property
    def exchange_share(self):
        """The part of a repeat's time that goes to communication and packing, or None."""
        return self.share(*(region for region in self.parts if self.kind(region) != WORK))

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
    with read_as_damaged(path), open_run(path) as file:
        run = file["run"]
        others = run.get("figures_of_merit", {})
        return Record(
            path=path, run=attributes(run), repeats=numbers(run.get("repeats")), history=_history(run.get("history")),
            figures=figures_of(attributes(run.get("figure_of_merit")), [attributes(others[key]) for key in sorted(others, key=lambda key: (len(key), key))]),
            timers={row.pop("region"): row for row in rows(run.get("timers"))}, per_rank=_per_rank(run.get("per_rank")),
            **{name: attributes(run.get(name)) for name in GROUPS}, **{name: rows(run.get(name)) for name in TABLES})


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
    if path.endswith(".json"):
        raise RecordError(f"{path}: nothing in it can be plotted; fields are in the HDF5 file of the run (-o)")
    with read_as_damaged(path), open_run(path) as file:
        fields = file.get("fields")
        if not fields:
            raise RecordError(f"{path}: no field in it (its deck has output.fields: none); --set output.fields=final writes one")
        name = sorted(fields)[0]
        data = fields[name]
        if data.ndim not in (1, 2, 3):
            raise RecordError(f"{path}: /fields/{name} has {data.ndim} dimensions; 1 to 3 can be plotted")
        check_values(data)
        step = max(1, -(-max(data.shape) // most))
        told = attributes(data)
        grid = attributes(file.get("VTKHDF"))
        places = next((what for what in ("cell", "point") if f"VTKHDF/{what.title()}Data/{name}" in file), "value")
        spacing = [step * width for width in grid.get("Spacing", (1, 1, 1))][: data.ndim]
        before = [width / 2 if places == "point" else 0 for width in spacing]
        return Field(
            name=name,
            values=data[(slice(None, None, step),) * data.ndim],
            places=f"{places}s",
            unit=told.get("unit", ""),
            time=told.get("time"),
            origin=tuple(at - half for at, half in zip(grid.get("Origin", (0, 0, 0)), before)),
            spacing=tuple(spacing),
        )


def figures_of(primary, others):
    figures = [primary] if primary else []
    figures += [figure for figure in others if figure.get("name") != primary.get("name")]
    figures = [figure for figure in figures if "value" in figure]  # one that is no number tells nothing
    for figure in figures:
        if "fraction" not in figure and figure.get("attainable"):
            figure["fraction"] = figure["value"] / figure["attainable"]
        if figure.get("fraction", 0) > LARGEST_FRACTION:
            figure["remark"] = (f"no fraction: it would be {figure.pop('fraction'):.2f}, and more than {LARGEST_FRACTION} is an error of the "
                                "calibration or of the measurement")
            figure.pop("attainable", None)
    return figures


def _history(group):
    name = next((name for name in ("residual", "norm") if group is not None and name in group), None)
    if name is None:
        return {}
    iterations, values = numbers(group.get("iteration")), numbers(group[name])
    if len(iterations) != len(values):
        raise ValueError(f"{group.name} has {len(iterations)} iterations and {len(values)} values")
    return {"name": name, "iterations": [int(number) for number in iterations], "values": values} if values else {}


def _per_rank(group):
    found = attributes(group)
    for name in ("regions", "seconds", "wall"):
        if group is not None and name in group:  # regions are an attribute, unless there are none
            check_values(group[name])
            found[name] = group[name][()].tolist()
    return found

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a run: what group /run of its HDF5 file says, or the JSON of --results, as plain Python values."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import RecordError, read_as_damaged
from .expected import misfit
from .hdf5 import read_tree
from .record_json import json_tree

Row = dict[str, Any]

# Parts of /run that a record has as they are: attributes, and rows.
GROUPS = ("verification", "calibration", "matrix", "solver", "volume", "memory", "checkpoint", "noise", "energy")
TABLES = ("traffic", "curves", "ratios", "trace", "placement", "distributions")
KINDS = ("compute", "packing", "communication", "io", "other")  # of a region: what its time goes to
EARLIER_KINDS = {"work": "compute"}  # words of earlier records
LARGEST_FRACTION = 1.2  # of attainable, that a measurement may give


@dataclass
class Record:
    path: str
    run: Row  # attributes of /run
    figures: list[Row] = field(default_factory=list)  # the primary figure first
    verification: Row = field(default_factory=dict)
    timers: dict[str, Row] = field(default_factory=dict)  # by region
    repeats: list[float] = field(default_factory=list)  # seconds
    traffic: list[Row] = field(default_factory=list)  # who sends how much to whom in a step
    calibration: Row = field(default_factory=dict)
    curves: list[Row] = field(default_factory=list)  # one point of one series of one curve each
    ratios: list[Row] = field(default_factory=list)  # one series over another at one size each
    matrix: Row = field(default_factory=dict)
    solver: Row = field(default_factory=dict)  # what the method and its preconditioner tell
    history: Row = field(default_factory=dict)  # name, iterations, values; empty if there is none
    per_rank: Row = field(default_factory=dict)  # useful, regions, seconds[repeat][rank][region], wall[repeat][rank]
    volume: Row = field(default_factory=dict)  # bytes that all ranks send in a repeat
    memory: Row = field(default_factory=dict)  # bytes of all ranks
    placement: list[Row] = field(default_factory=list)  # the host and cores of a rank, and those of each of its threads
    checkpoint: Row = field(default_factory=dict)  # what was written and resumed from
    distributions: list[Row] = field(default_factory=list)  # of the seconds of single exchanges and steps
    noise: Row = field(default_factory=dict)  # of a fixed quantum of work
    energy: Row = field(default_factory=dict)  # J a repeat
    trace: list[Row] = field(default_factory=list)  # when a rank was in which region

    @property
    def figure(self) -> Row | None:
        """The primary figure of merit, or None."""
        return self.figures[0] if self.figures else None

    @property
    def fraction(self) -> float | None:
        """How much of what the machine can do; of the first figure that says so, or None."""
        return next((figure["fraction"] for figure in self.figures if "fraction" in figure), None)

    @property
    def passed(self) -> bool | None:
        """None if the run did not verify."""
        passed = self.verification.get("passed")
        return None if passed is None else bool(passed)

    @property
    def seconds(self) -> float | None:
        """Median seconds of a repeat, or None."""
        return float(np.median(self.repeats)) if self.repeats else self.timers.get("total", {}).get("max")

    @property
    def threads(self) -> int:
        """The most threads of a rank; 1 where kernels run on a device or the record does not say it."""
        return max((len(row.get("threads", "").split()) for row in self.placement), default=1) or 1

    @property
    def hosts(self) -> list[str]:
        hosts = self.run.get("hosts", [])
        return [hosts] if isinstance(hosts, str) else list(dict.fromkeys(hosts))

    @property
    def parts(self) -> list[str]:
        """The regions that the measured time of a repeat went to: what computes comes first."""
        order = (None, *KINDS)
        return sorted((region for region in self.timers if region != "total" and not self.is_outside(region)),
                      key=lambda region: order.index(self.kind(region)))

    def is_outside(self, region: str) -> bool:
        """Whether the region is no part of the measured time."""
        return self.kind(region) == "io" or bool(self.timers[region].get("once"))

    def kind(self, region: str) -> str | None:
        """One of KINDS; None if the record does not say it."""
        kind: str = self.timers.get(region, {}).get("kind", "")
        kind = EARLIER_KINDS.get(kind, kind)
        return kind if kind in KINDS else None

    @property
    def knows_kinds(self) -> bool:
        """Whether the record tells communication from the rest."""
        return any(self.kind(region) for region in self.timers)

    @property
    def exchange_share(self) -> float | None:
        """The part of a repeat's time that goes to communication and packing, or None."""
        return self.share(*(region for region in self.parts if self.kind(region) in ("communication", "packing"))) if self.knows_kinds else None

    def share(self, *regions: str) -> float | None:
        """The regions' part of a repeat's time, or None. Medians over ranks."""
        total = self.timers.get("total", {}).get("median") or self.seconds
        if not total or not self.timers:
            return None
        return float(sum(self.timers[region]["median"] for region in regions if region in self.timers) / total)


def read_record(path: str) -> Record:
    """Of an HDF5 file of a run, or of the JSON that --results writes."""
    with read_as_damaged(path):
        record = record_of(path, json_tree(path) if path.endswith(".json") else read_tree(path))
    if wrong := misfit(record):
        raise RecordError(f"{path}: cannot be read, so the file is damaged: {wrong}")
    return record


def record_of(path: str, tree: Row) -> Record:
    """Of /run as a tree of attributes, groups and tables."""
    groups: dict[str, Any] = {}
    for key in (*GROUPS, "per_rank", "history", "figure_of_merit", "figures_of_merit"):
        groups[key] = tree.pop(key) if isinstance(tree.get(key), dict) else {}  # memory of pingpong is a word
    primary, others = groups.pop("figure_of_merit"), groups.pop("figures_of_merit")
    tables: dict[str, Any] = {key: tree.pop(key, []) for key in TABLES}
    timers = {row.pop("region"): row for row in tree.pop("timers", [])}
    if not tables["trace"]:  # of apps that time their steps themselves
        tables["trace"] = [{**row, "region": row.get("activity", "")} for row in tree.pop("timeline", [])]
    return Record(path, timers=timers, repeats=tree.pop("repeats", []), figures=figures_of(primary, list(others.values())),
                  run={key: value for key, value in tree.items() if not isinstance(value, (dict, list)) or key == "hosts"},
                  history=_history(groups.pop("history")), **groups, **tables)


def figures_of(primary: Row, others: list[Row]) -> list[Row]:
    figures = [primary] if primary else []
    figures += [figure for figure in others if figure.get("name") != primary.get("name")]
    figures = [figure for figure in figures if "value" in figure]  # one that is no number tells nothing
    for figure in figures:
        if "fraction" not in figure and figure.get("attainable"):
            figure["fraction"] = figure["value"] / figure["attainable"]
        if figure.get("fraction", 0) > LARGEST_FRACTION:
            figure["remark"] = (f"no fraction: it would be {figure.pop('fraction'):.2f}, and more than {LARGEST_FRACTION} "
                                "is an error of the calibration or of the measurement")
            figure.pop("attainable", None)
    return figures


def _history(group: Row) -> Row:
    name = next((name for name in ("residual", "norm") if name in group), None)
    if name is None:
        return {}
    iterations, values = group.get("iteration", []), group[name]
    if isinstance(values, list) and isinstance(iterations, list) and len(iterations) != len(values):
        raise ValueError(f"/run/history has {len(iterations)} iterations and {len(values)} values")
    return {"name": name, "iterations": iterations, "values": values}

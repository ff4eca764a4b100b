# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a run: what group /run of its HDF5 file says, or the JSON of --results, as plain Python values."""

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from .errors import RecordError, read_as_damaged, writing
from .stored import read_json

Row = dict[str, Any]

KINDS = ("compute", "packing", "communication", "io", "other")  # of a region: what its time goes to
NUMBER = (int, float)
TYPES: dict[str, Any] = {"text": str, "whole": int, "number": NUMBER, "names": (list, str)}


def group(table: bool = False, always: str = "", others: Any = object, **words: str) -> Any:
    """A field of values by key, or of rows of such: text="app deck", whole="ranks". `always`: keys that no row lacks; a
    number that is not one is left out."""
    keys = {key: TYPES[kind] for kind, keys in words.items() for key in keys.split()}
    return field(default_factory=list if table else dict,
                 metadata={"table": table, "keys": keys, "always": always.split(), "others": others})


@dataclass
class Record:
    """What its values are here, those who show it need not ask."""

    path: str
    run: Row = group(
        text="app deck process_grid execution_space backend pattern packing path ending ending_in_words end_signal",
        names="hosts", whole="ranks iterations sweeps steps",
        number="residual true_residual error relative_error field_memory")
    # The primary figure first.
    figures: list[Row] = group(True, "name value", text="name unit remark",
                               number="value attainable fraction bytes_read bytes_written")
    verification: Row = group(whole="passed conclusive", text="measure remark", names="judged",
                              number="error tolerance")
    # By region.
    timers: dict[str, Row] = group(always="median", whole="calls slowest_rank once", number="min median max",
                                   text="kind")
    repeats: list[float] = field(default_factory=list, metadata={"table": True})  # seconds
    # Who sends how much to whom in a step.
    traffic: list[Row] = group(True, "rank neighbour messages bytes", whole="rank neighbour messages bytes")
    calibration: Row = group(number="read_bandwidth copy_bandwidth triad_bandwidth vector_bytes "
                             "working_set_read_bandwidth working_set_copy_bandwidth working_set_triad_bandwidth "
                             "peer_bandwidth latency bandwidth internode_latency internode_bandwidth")
    # One point of one series of one curve each; one series over another at one size each.
    curves: list[Row] = group(True, "curve series size bytes", text="curve series", whole="size messages",
                              number="bytes mean median standard_error pack post wait unpack")
    ratios: list[Row] = group(True, "curve series baseline size bytes ratio low high", text="curve series baseline",
                              whole="size", number="bytes ratio low high")
    matrix: Row = group(whole="rows nonzeros")
    solver: Row = group()  # what the method and its preconditioner tell
    history: Row = group()  # name, iterations, values; empty if there is none
    per_rank: Row = group()  # useful, regions, seconds[repeat][rank][region], wall[repeat][rank]
    volume: Row = group(others=NUMBER)  # bytes that all ranks send in a repeat
    memory: Row = group(others=NUMBER)  # bytes of all ranks
    # The host and cores of a rank, and those of each of its threads.
    placement: list[Row] = group(True, whole="rank", text="host cores threads")
    # What was written and resumed from.
    checkpoint: Row = group(whole="written bytes at_step at_repeat", number="seconds bandwidth overhead",
                            text="newest restarted_from")
    # Of the seconds of single exchanges and steps.
    distributions: list[Row] = group(True, "name max", text="name", whole="count slowest_rank",
                                     number="p50 p95 p99 max")
    noise: Row = group(number="quantum p50 p99 max", whole="samples slowest_rank")  # of a fixed quantum of work
    energy: Row = group(number="gpu package", text="gpu_remark package_remark")  # J a repeat
    # When a rank was in which region.
    trace: list[Row] = group(True, "rank region begin end", whole="rank", text="region", number="begin end")

    @property
    def app(self) -> str:
        return str(self.run.get("app", "?"))

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
    def verdict(self) -> str:
        if self.passed is None:
            return "not verified"
        return "passed" if self.passed else "FAILED" if self.verification.get("conclusive", 1) else "inconclusive"

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
        return kind if kind in KINDS else None

    @property
    def knows_kinds(self) -> bool:
        """Whether the record tells communication from the rest."""
        return any(self.kind(region) for region in self.timers)

    @property
    def exchange_share(self) -> float | None:
        """The part of a repeat's time that goes to communication and packing, or None."""
        exchange = [region for region in self.parts if self.kind(region) in ("communication", "packing")]
        return self.share(*exchange) if self.knows_kinds else None

    def share(self, *regions: str) -> float | None:
        """The regions' part of a repeat's time, or None. Medians over ranks."""
        total = self.timers.get("total", {}).get("median") or self.seconds
        if not total or not self.timers:
            return None
        return float(sum(self.timers[region]["median"] for region in regions if region in self.timers) / total)


def read_record(path: str) -> Record:
    """Of an HDF5 file of a run, or of the JSON that --results writes."""
    with read_as_damaged(path):
        record = _record(path, _json_tree(path) if path.endswith(".json") else _some(read_json(path)))
        _check(record)
    return record


def _json_tree(path: str) -> Row:
    tree = json.loads(Path(path).read_text(encoding="utf-8", errors="replace"))
    if not isinstance(tree, dict) or "app" not in tree:
        raise RecordError(f"{path}: not a record of Kontor's: it has no app")
    plain: Row = _some(tree)
    return plain


def _some(value: Any) -> Any:
    """As the HDF5 file has it: null stands for not-a-number, which objects leave out and arrays keep."""
    if isinstance(value, dict):
        return {key: _some(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [float("nan") if item is None else _some(item) for item in value]
    return int(value) if isinstance(value, bool) else value


def _record(path: str, tree: Row) -> Record:
    """Of /run as a tree of members and tables."""
    found = {each.name: tree.pop(each.name) for each in fields(Record)[2:]
             if isinstance(tree.get(each.name), dict) or (each.name in tree and each.metadata["table"])}
    primary, others = (tree.pop(key, {}) for key in ("figure_of_merit", "figures_of_merit"))
    found["timers"] = {row.pop("region"): row for row in tree.pop("timers", [])}
    found["figures"] = _figures(primary, list(others.values()))
    found["history"] = _history(found.get("history", {}))
    run = {key: value for key, value in tree.items() if not isinstance(value, (dict, list)) or key == "hosts"}
    return Record(path, run, **found)


def _figures(primary: Row, others: list[Row]) -> list[Row]:
    figures = [primary, *(figure for figure in others if figure.get("name") != primary.get("name"))]
    figures = [figure for figure in figures if "value" in figure]  # one that is no number tells nothing
    for figure in figures:
        if "fraction" not in figure and figure.get("attainable"):
            figure["fraction"] = figure["value"] / figure["attainable"]
    return figures


def _history(group: Row) -> Row:
    name = next((name for name in ("residual", "norm") if name in group), None)
    if name is None:
        return {}
    iterations, values = group.get("iteration", []), group[name]
    if len(iterations) != len(values):
        raise ValueError(f"/run/history has {len(iterations)} iterations and {len(values)} values")
    if not values or not all(isinstance(value, NUMBER) for value in (*iterations, *values)):
        raise ValueError("/run/history is not a number for each iteration")
    return {"name": name, "iterations": iterations, "values": values}


def _check(record: Record) -> None:
    """ValueError that names the first value that is not as it must be."""
    for each in fields(record)[1:]:
        where = "/run" if each.name == "run" else f"/run/{each.name}"
        found = getattr(record, each.name)
        rows = list(found.values()) if each.name == "timers" else found if each.metadata["table"] else [found]
        if "keys" not in each.metadata:
            continue
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError(f"{where} is no table")
        for row in rows:
            if lacks := [key for key in each.metadata["always"] if key not in row]:
                raise ValueError(f"{where} lacks {lacks[0]}")
            for key, value in row.items():
                if not isinstance(value, each.metadata["keys"].get(key, each.metadata["others"])):
                    raise ValueError(f"{where} has {key} {str(value)[:40]!r}")
    if not all(isinstance(host, str) for host in record.run.get("hosts", "")):
        raise ValueError("/run has hosts that are not names")
    if not isinstance(record.repeats, list) or not all(isinstance(seconds, NUMBER) for seconds in record.repeats):
        raise ValueError("/run/repeats has values that are no numbers")
    if not 0 <= record.run.get("ranks", 1) < 10**9:
        raise ValueError(f"/run has {record.run['ranks']} ranks")
    if record.per_rank:
        seconds, wall = (np.array(record.per_rank.get(key), dtype=float) for key in ("seconds", "wall"))
        regions = record.per_rank.get("regions") or []
        if not isinstance(regions, list) or not all(isinstance(name, str) for name in regions):
            raise ValueError("/run/per_rank has regions that are not names")
        if wall.ndim != 2 and seconds.size or wall.size and seconds.shape != (*wall.shape, len(regions)):
            raise ValueError("/run/per_rank has no number for each region, rank and repeat")


def extract_deck(record: Record, path: str) -> str:
    """Writes the deck there and returns the number of ranks."""
    missing = [key for key in ("deck", "ranks") if not record.run.get(key)]
    if missing:
        lacks = " and no ".join(missing)
        raise RecordError(f"{record.path}: the run cannot be repeated: /run has no member {lacks}")
    with writing(path):
        Path(path).write_text(record.run["deck"], encoding="utf-8", errors="surrogateescape")
    return str(record.run["ranks"])

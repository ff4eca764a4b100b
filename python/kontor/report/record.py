# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a run as plain Python values: the JSON of --results, or what `kontor-record` prints of an HDF5 file. That
program compares what it reads with the checksums of the file."""

import json
import signal
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..place import Place
from .errors import RecordError, read_as_damaged

Row = dict[str, Any]

KINDS = ("compute", "packing", "communication", "io", "other")  # of a region: what its time goes to
NOISY = 2.0  # a hundredth of the quanta takes so many times the fastest; on a quiet node 1.0 to 1.5
DO_NOT_QUOTE = "do not quote these times"


def rows() -> Any:
    return field(default_factory=list)


def values() -> Any:
    return field(default_factory=dict)


@dataclass
class Record:
    """docs/reference/record.md has the groups and their members. What is absent or null there is absent here."""

    path: str
    run: Row = values()  # members of /run that are no groups
    figures: list[Row] = rows()  # the primary figure first
    verification: Row = values()
    timers: dict[str, Row] = values()  # by region
    repeats: list[float] = rows()  # seconds
    traffic: list[Row] = rows()  # who sends how much to whom in a step
    calibration: Row = values()
    curves: list[Row] = rows()  # one point of one series of one curve each
    ratios: list[Row] = rows()  # one series over another at one size each
    matrix: Row = values()
    solver: Row = values()  # what the method and its preconditioner tell
    history: Row = values()  # name, iterations, values
    per_rank: Row = values()  # useful, regions, seconds[repeat][rank][region], wall[repeat][rank]
    volume: Row = values()  # bytes that all ranks send in a repeat
    memory: Row = values()  # bytes of all ranks
    placement: list[Row] = rows()  # the host and cores of a rank, and those of each of its threads
    checkpoint: Row = values()  # what was written and resumed from
    distributions: list[Row] = rows()  # of the seconds of single exchanges and steps
    noise: Row = values()  # of a fixed quantum of work, relative to the fastest
    energy: Row = values()  # J a repeat
    trace: list[Row] = rows()  # when a rank was in which region

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
    def disturbed(self) -> str:
        """What disturbed the run, as it measured; empty if nothing is known."""
        told = ["ranks and threads share cores"] if self.calibration.get("oversubscribed") else []
        noise = self.noise.get("p99", 1)
        return ", ".join(told + ([f"noise p99 is {noise:.3g}"] if noise > NOISY else []))

    @property
    def seconds(self) -> float | None:
        """Median seconds of a repeat, or None."""
        return statistics.median(self.repeats) if self.repeats else self.timers.get("total", {}).get("max")

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
        """The regions that the measured time of a repeat went to, in the order of all tables and pictures."""
        found = [region for region in self.timers if region != "total" and not self.is_outside(region)]
        return sorted(found, key=lambda region: ((None, *KINDS).index(self.kind(region)), region))

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


def regions_of(records: Sequence[Record]) -> dict[str, str | None]:
    """The kinds of all regions of these runs, in the order of all pictures."""
    found = {region: record.kind(region) for record in records for region in record.parts}
    return dict(sorted(found.items(), key=lambda item: ((None, *KINDS).index(item[1]), item[0])))


def read_record(path: str) -> Record:
    """Of an HDF5 file of a run, or of the JSON that --results writes."""
    with read_as_damaged(path):
        tree = json.loads(Path(path).read_text(encoding="utf-8")) if path.endswith(".json") else read_json(path)
        if not isinstance(tree, dict) or not isinstance(tree.get("app"), str):
            raise RecordError(f"{path}: not a record of Kontor's: it has no app")
        return _checked(_record(path, _some(tree)))


def read_json(path: str, name: str = "/run", whole: bool = False) -> Row:
    """Of a text of an HDF5 file. `whole`: all bytes of the file are compared, those of fields too."""
    if path.endswith(".tmp"):
        raise RecordError(f"{path}: unfinished: the run is still going on or was killed; finished files end in .h5")
    place = Place.here()
    program = place.program("kontor-record")
    try:
        done = subprocess.run([program, *["--whole"] * whole, path, name], capture_output=True, text=True,
                              encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise RecordError(f"{path}: {place.lacks(program.name)} ({error.strerror})", "E-BUILD-FAILED") from error
    if done.returncode < 0:
        raise _damaged(path, f"reading it ends with {signal.Signals(-done.returncode).name}")
    if done.returncode:
        raise RecordError(done.stderr.strip())
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        raise _damaged(path, f"{name} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise _damaged(path, f"{name} is no object of JSON")
    return found


def _damaged(path: str, why: str) -> RecordError:
    return RecordError(f"{path}: cannot be read, so the file is damaged: {why}", "E-FILE-DAMAGED")


def _some(value: Any) -> Any:
    """Without null, which stands for not-a-number: objects leave it out and arrays keep it."""
    if isinstance(value, dict):
        return {key: _some(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [float("nan") if item is None else _some(item) for item in value]
    return int(value) if isinstance(value, bool) else value


def _record(path: str, tree: Row) -> Record:
    primary, others = tree.pop("figure_of_merit", {}), tree.pop("figures_of_merit", {})
    figures = [primary, *(figure for figure in others.values() if figure.get("name") != primary.get("name"))]
    found: Row = {"figures": [figure for figure in figures if "value" in figure],
                  "timers": {row["region"]: row for row in tree.pop("timers", [])},
                  "history": _history(tree.pop("history", {}))}
    for figure in found["figures"]:
        if "fraction" not in figure and figure.get("attainable"):
            figure["fraction"] = figure["value"] / figure["attainable"]
    for each in fields(Record)[2:]:
        if each.name not in found and isinstance(tree.get(each.name), list | dict):  # pingpong's memory is a word
            found[each.name] = tree.pop(each.name)
    run = {key: value for key, value in tree.items() if not isinstance(value, dict | list) or key == "hosts"}
    return Record(path, run, **found)


def _history(group: Row) -> Row:
    name = next((name for name in ("residual", "norm") if name in group), None)
    if name is None:
        return {}
    iterations, found = group.get("iteration", []), group[name]
    if len(iterations) != len(found) or not all(isinstance(value, int | float) for value in (*iterations, *found)):
        raise ValueError("history is not a number for each iteration")
    return {"name": name, "iterations": iterations, "values": found} if found else {}


def _checked(record: Record) -> Record:
    """ValueError where a group is no table of rows, or what all reports compute with is no number."""
    for each in fields(record)[2:]:
        found, is_table = getattr(record, each.name), str(each.type).startswith("list")
        if not isinstance(found, list if is_table else dict):
            raise ValueError(f"{each.name} is no {'table' if is_table else 'object'}")
        if is_table and each.name != "repeats" and not all(isinstance(row, dict) for row in found):
            raise ValueError(f"{each.name} is no table")
    numbers = {"ranks": record.run.get("ranks", 1), **{f"repeat {place}": each for place, each in enumerate(record.repeats)},
               **{f"{region}: median": row["median"] for region, row in record.timers.items()},
               **{f"figure {figure['name']}": figure["value"] for figure in record.figures}}
    for name, value in numbers.items():
        if not isinstance(value, int | float):
            raise ValueError(f"{name} is {str(value)[:40]!r}")
    return record

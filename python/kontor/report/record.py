# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a run as plain Python values: the JSON of --results, or what `kontor-record` prints of an HDF5 file.
That program compares what it reads with the checksums of the file."""

import json
import os
import signal
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..messages import Failure
from ..place import Place
from .text import printable

Row = dict[str, Any]

KINDS = ("compute", "packing", "communication", "io", "other")  # of a region: what its time goes to
NOISY = 2.0  # a hundredth of the quanta takes so many times the fastest; on a quiet node 1.0 to 1.5
DO_NOT_QUOTE = "do not quote these times"


class RecordError(Failure):
    """A file that cannot be read, or what else the user can mend, with what to do and the id of the cause."""

    def __init__(self, message: str, error_id: str = "E-REPORT-FILE"):
        super().__init__(message, error_id=error_id)


def reason(error: BaseException) -> str:
    """In one line, of at most 200 characters."""
    return printable(" ".join(str(error).split()))[:200] or type(error).__name__


@contextmanager
def read_as_damaged(path: object) -> Iterator[None]:
    """Around what reads a file: any exception becomes one line about it, because damage has no end of symptoms."""
    try:
        yield
    except (RecordError, ImportError):
        raise
    except Exception as error:  # pylint: disable=broad-except
        if isinstance(error, OSError) and error.errno:  # what the system says is not the file's fault
            raise RecordError(f"{path}: cannot be read: {os.strerror(error.errno)}") from error
        raise RecordError(f"{path}: cannot be read, so the file is damaged: {reason(error)}") from error


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
    traffic: list[Row] = rows()
    calibration: Row = values()
    curves: list[Row] = rows()
    ratios: list[Row] = rows()
    matrix: Row = values()
    solver: Row = values()
    history: Row = values()
    per_rank: Row = values()  # useful, regions, seconds[repeat][rank][region], wall[repeat][rank]
    volume: Row = values()
    placement: list[Row] = rows()
    checkpoint: Row = values()
    distributions: list[Row] = rows()
    noise: Row = values()
    energy: Row = values()
    trace: list[Row] = rows()

    @property
    def app(self) -> str:
        return str(self.run.get("app", "?"))

    @property
    def deck(self) -> str:
        return str(self.run.get("deck", ""))

    @property
    def figure(self) -> Row:
        """The primary figure of merit; empty if there is none."""
        return self.figures[0] if self.figures else {}

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
        return statistics.median(self.repeats) if self.repeats else None

    @property
    def threads(self) -> int:
        """The most threads of a rank; 1 where kernels run on a device or the record does not say it."""
        return max((len(row.get("threads", "").split()) for row in self.placement), default=1) or 1

    @property
    def hosts(self) -> list[str]:
        return list(dict.fromkeys(self.run.get("hosts", [])))

    @property
    def parts(self) -> list[str]:
        """The regions that the measured time of a repeat went to, in the order of all tables and pictures."""
        found = [region for region in self.timers if region != "total" and not self.is_outside(region)]
        return sorted(found, key=lambda region: (KINDS.index(self.kind(region)), region))

    def is_outside(self, region: str) -> bool:
        """Whether the region is no part of the measured time."""
        return self.kind(region) == "io" or bool(self.timers[region].get("once"))

    def kind(self, region: str) -> str:
        """One of KINDS."""
        return str(self.timers.get(region, {}).get("kind", "other"))

    @property
    def exchange_share(self) -> float | None:
        """The part of a repeat's time that goes to communication and packing, or None."""
        return self.share(*(region for region in self.parts if self.kind(region) in ("communication", "packing")))

    def share(self, *regions: str) -> float | None:
        """The regions' part of a repeat's time, or None. Medians over ranks."""
        total = self.timers.get("total", {}).get("median") or self.seconds
        if not total or not self.timers:
            return None
        return float(sum(self.timers[region]["median"] for region in regions if region in self.timers) / total)


def regions_of(records: Sequence[Record]) -> dict[str, str]:
    """The kinds of all regions of these runs, in the order of all pictures."""
    found = {region: record.kind(region) for record in records for region in record.parts}
    return dict(sorted(found.items(), key=lambda item: (KINDS.index(item[1]), item[0])))


def read_record(path: str) -> Record:
    """Of an HDF5 file of a run, or of the JSON that --results writes."""
    with read_as_damaged(path):
        tree = json.loads(Path(path).read_text(encoding="utf-8")) if path.endswith(".json") else read_json(path)
        if not isinstance(tree, dict) or not isinstance(tree.get("app"), str):
            raise RecordError(f"{path}: not a record of Kontor's: it has no app")
        return _record(path, _some(tree))


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
    if done.returncode > 0:
        raise RecordError(done.stderr.strip())
    try:
        why = f"{name} is no object"
        if done.returncode:
            why = f"reading it ends with {signal.Signals(-done.returncode).name}"
        elif isinstance(found := json.loads(done.stdout), dict):
            return found
    except ValueError as error:
        why = f"{name} is no JSON: {error}"
    raise RecordError(f"{path}: cannot be read, so the file is damaged: {why}", "E-FILE-DAMAGED")


def _some(value: Any) -> Any:
    """Without null, which stands for not-a-number: objects leave it out and arrays keep it."""
    if isinstance(value, dict):
        return {key: _some(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [float("nan") if item is None else _some(item) for item in value]
    return int(value) if isinstance(value, bool) else value


def _record(path: str, tree: Row) -> Record:
    figures = [figure for figure in tree.get("figures_of_merit", {}).values() if "value" in figure]
    timers = {row["region"]: row for row in tree.get("timers", [])}
    groups = {each.name: tree[each.name] for each in fields(Record)[2:] if each.name in tree and each.name != "timers"}
    run = {key: value for key, value in tree.items() if not isinstance(value, dict | list) or key == "hosts"}
    return Record(path, run, **groups, figures=figures, timers=timers)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study's folder as plain Python values: its points, their runs and records. Tolerant: what is absent is left out."""

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeVar

from ..messages import SHARED_CORES
from .entries import entries_of_jobs
from .record import DO_NOT_QUOTE, NOISY, Record, RecordError, Row, read_as_damaged, read_record
from .text import counted, grouped

PASSED, INTERRUPTED = "passed", "ended early"
Made = TypeVar("Made", "Run", "Point")


@dataclass
class Run:
    repeat: int = 0
    state: str = "unknown"
    message: str = ""
    exit_code: int | None = None
    log: str = ""
    attempts: int = 1
    record: Record | None = field(default=None, init=False)  # of a run that has passed, if it could be read
    problem: str = field(default="", init=False)  # why it could not
    shares_cores: bool = field(default=False, init=False)


@dataclass(eq=False)
class Point:
    id: str
    ranks: int = 1
    nodes: int = 1
    threads: int = 1
    gpus: int = 0
    factors: Row = field(default_factory=dict)
    oversubscribed: bool = False
    skipped: str | None = None
    runs: list[Run] = field(default_factory=list, init=False)

    @property
    def counted(self) -> list[Run]:
        """The runs that passed and have a record, in the order of repeats."""
        return sorted((run for run in self.runs if run.record), key=lambda run: run.repeat)

    @property
    def records(self) -> list[Record]:
        return [run.record for run in self.counted if run.record]

    @property
    def workers(self) -> int:
        """What the work is divided among: GPUs, else threads of all ranks."""
        return max(1, self.gpus or self.ranks * self.threads)

    @property
    def sample(self) -> list[float]:
        """Seconds: the median of each run, or, of a single run, each of its repeats."""
        records = [record for record in self.records if record.seconds]
        if len(records) == 1 and len(records[0].repeats) > 1:
            return list(records[0].repeats)
        return [record.seconds for record in records if record.seconds]

    @property
    def sharing(self) -> int:
        """How many of its runs shared cores, among themselves or with other runs."""
        return sum(run.shares_cores or self.oversubscribed for run in self.counted)

    @property
    def noise(self) -> float | None:
        """The largest p99 of its runs."""
        return max((record.noise["p99"] for record in self.records if "p99" in record.noise), default=None)

    @property
    def disturbed(self) -> bool:
        return bool(self.sharing or any(record.disturbed for record in self.records))


@dataclass
class Study:
    about: Row  # study.json but for points and runs
    points: list[Point]

    @property
    def name(self) -> str:
        return str(self.about.get("study", "study"))

    @property
    def app(self) -> str:
        apps = dict.fromkeys(point.records[0].app for point in self.measured)
        return str(self.about.get("app") or ", ".join(apps))

    @property
    def baseline(self) -> Row:
        """Factors of the point that the study's file says others are compared with."""
        return dict(self.about.get("baseline") or {})

    @property
    def measured(self) -> list[Point]:
        """The points that have at least one record."""
        return [point for point in self.points if point.sample]

    @property
    def disturbed(self) -> str:
        """What disturbed its runs; empty if nothing is known."""
        sharing, runs = sum(point.sharing for point in self.points), sum(len(point.counted) for point in self.points)
        told = [f"{sharing} of {counted(runs, 'run')} shared cores"] if sharing else []
        noise = max((point.noise or 0 for point in self.points), default=0)
        told += [f"noise p99 is up to {noise:.3g}"] if noise > NOISY else []
        return f"Warning: {DO_NOT_QUOTE}: {', '.join(told)}." if told else ""


def read_study(folder: str) -> Study:
    """RecordError if there is no study, or its state is damaged; a record that cannot be read is its run's problem."""
    path = Path(folder) / "study.json"
    if not path.exists():
        raise RecordError(f"{folder}: not a study's folder: it has no study.json; kontor study makes one")
    with read_as_damaged(path):
        about = dict(json.loads(path.read_text(encoding="utf-8", errors="replace")))
        points = {entry["id"]: _made(Point, entry) for entry in about.pop("points", [])}
        made = about.pop("runs", [])
        made += entries_of_jobs(Path(folder), made)
        for (name, _), attempts in grouped(made, lambda entry: (str(entry["point"]), entry["repeat"])).items():
            if name in points:
                points[name].runs.append(_run(attempts, Path(folder)))
        return Study(about, list(points.values()))


def _made(kind: type[Made], entry: Row) -> Made:
    """What the entry says; the default of what it lacks."""
    names = [each.name for each in fields(kind) if each.init and entry.get(each.name) is not None]
    return kind(**{name: entry[name] for name in names})


def _run(attempts: list[Row], folder: Path) -> Run:
    """The last attempt, with its record if it has passed."""
    entry = attempts[-1]
    run = _made(Run, {**entry, "attempts": len(attempts)})
    names = [str(entry[key]) for key in ("record", "result") if entry.get(key)]
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if run.state == PASSED and path is None:
        run.problem = f"no file {' or '.join(names) or 'of a record'}"
    elif run.state == PASSED:
        try:
            run.record = read_record(str(path))
        except RecordError as error:
            run.problem = str(error)
    if record := run.record:
        log = folder / run.log
        told = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        run.shares_cores = bool(record.calibration.get("oversubscribed")) or SHARED_CORES in told
        if record.passed is False:
            run.state, run.record, run.message = "failed", None, f"verification {record.verdict.lower()}"
    return run

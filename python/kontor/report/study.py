# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study's folder as plain Python values: its points, their runs and records. Tolerant: what is absent is left out."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeVar

from .entries import entries_of_jobs
from .errors import RecordError, read_as_damaged
from .record import Record, Row, read_record
from .text import grouped

PASSED = "passed"
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


@dataclass(eq=False)
class Point:
    id: str
    ranks: int = 1
    nodes: int = 1
    threads: int = 1
    gpus: int = 0
    factors: Row = field(default_factory=dict)
    ablation_of: str | None = None
    ablation: str | None = None
    ablations: Row = field(default_factory=dict)  # by kind, the points where that is switched off
    oversubscribed: bool = False
    skipped: str | None = None
    runs: list[Run] = field(default_factory=list, init=False)

    @property
    def records(self) -> list[Record]:
        """Of the runs that count, in the order of repeats."""
        return [run.record for run in sorted(self.runs, key=lambda run: run.repeat) if run.record]

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


@dataclass
class Study:
    name: str
    kind: str
    app: str
    about: Row  # study.json but for points and runs
    points: list[Point]
    problems: list[str] = field(default_factory=list)

    @property
    def baseline(self) -> Row:
        """Factors of the point that the study's file says others are compared with."""
        named = self.about.get("baseline")
        return named if isinstance(named, dict) else {}

    @property
    def measured(self) -> list[Point]:
        """The points that are no ablation and have at least one record."""
        return [point for point in self.points if point.sample and not point.ablation]

    def ablations(self, point: Point) -> dict[str, Point]:
        """What was switched off for this point, by its kind."""
        by_id = {other.id: other for other in self.points}
        named = {kind: by_id.get(name) for kind, name in point.ablations.items()}
        own = {other.ablation: other for other in self.points if other.ablation and other.ablation_of == point.id}
        return {kind: other for kind, other in {**named, **own}.items() if other and other.sample}


def read_study(folder: str, now: Callable[[str], object] = lambda path: None) -> Study:
    """Calls now(path) before it reads a file. RecordError if there is no study; a part that is wrong is a problem."""
    path = Path(folder) / "study.json"
    if not path.exists():
        raise RecordError(f"{folder}: not a study's folder: it has no study.json; kontor study makes one")
    now(str(path))
    with read_as_damaged(path):
        about = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        if not isinstance(about, dict):
            raise ValueError("it is not an object")
    points = {str(entry["id"]): _made(Point, {**entry, "id": str(entry["id"])})
              for entry in _objects(about.pop("points", [])) if "id" in entry}
    study = Study(str(about.get("study", path.parent.name)), str(about.get("kind", "sweep")),
                  str(about.get("app") or ""), about, list(points.values()))
    made = _objects(about.pop("runs", []))
    made += entries_of_jobs(Path(folder), made)
    runs = grouped(made, lambda entry: (str(entry.get("point")), str(entry.get("repeat"))))
    for (name, _), attempts in runs.items():  # the last one counts
        if name not in points:
            study.problems.append(f"a run is of point {name!r}, which the study does not have")
        else:
            points[name].runs.append(_run(attempts, Path(folder), now))
    if not study.points:
        study.problems.append("the study has no points")
    study.app = study.app or ", ".join(dict.fromkeys(point.records[0].app for point in study.points if point.records))
    return study


def _objects(value: object) -> list[Row]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _made(kind: type[Made], entry: Row) -> Made:
    """What the entry says; the default of what it lacks or has of another kind."""
    types: Row = {each.name: dict if each.type == Row else each.type for each in fields(kind) if each.init}
    return kind(**{name: entry[name] for name, of in types.items() if name in entry and isinstance(entry[name], of)})


def _run(attempts: list[Row], folder: Path, now: Callable[[str], object]) -> Run:
    """With its record if it has passed."""
    entry = attempts[-1]
    run = _made(Run, {**entry, "attempts": len(attempts)})
    names = [str(entry[key]) for key in ("record", "result") if entry.get(key)]
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if run.state == PASSED and path is None:
        run.problem = f"no file {' or '.join(names) or 'of a record'}"
    elif run.state == PASSED:
        try:
            now(str(path))
            run.record = read_record(str(path))
        except RecordError as error:
            run.problem = str(error)
        if (record := run.record) and record.passed is False:
            run.state, run.record, run.message = "failed", None, f"verification {record.verdict.lower()}"
    return run

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study's folder as plain Python values: its points, their runs and records. Tolerant: what is absent is left out."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .errors import RecordError, read_as_damaged
from .record import Record, Row, read_record
from .text import grouped

PASSED = "passed"


@dataclass
class Run:
    point: str
    repeat: int
    state: str
    message: str = ""
    exit_code: int | None = None
    log: str = ""
    record: Record | None = None  # of a run that has passed, if it could be read
    problem: str = ""  # why it could not
    attempts: int = 1


@dataclass
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
    runs: list[Run] = field(default_factory=list)

    @property
    def records(self) -> list[Record]:
        """Of the runs that count, in the order of repeats."""
        return [run.record for run in sorted(self.runs, key=lambda run: run.repeat) if run.record]

    @property
    def workers(self) -> int:
        """What the work is divided among: GPUs, else threads of all ranks."""
        return self.gpus or self.ranks * self.threads

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
    """Calls now(path) before a file is read. RecordError if there is no study; what is wrong with a part is a problem."""
    about = _plan(Path(folder) / "study.json")
    now(str(Path(folder) / "study.json"))
    points = {str(entry["id"]): _point(entry) for entry in _objects(about.pop("points", [])) if "id" in entry}
    study = Study(str(about.get("study", Path(folder).name)), str(about.get("kind", "sweep")), str(about.get("app") or ""),
                  about, list(points.values()))
    for entry in _last_attempts(_objects(about.pop("runs", []))):
        run = _run(entry)
        if run.point not in points:
            study.problems.append(f"a run is of point {run.point!r}, which the study does not have")
            continue
        if run.state == PASSED:
            _read(run, Path(folder), entry, now)
        points[run.point].runs.append(run)
    if not study.points:
        study.problems.append("the study has no points")
    study.app = study.app or ", ".join(dict.fromkeys(str(point.records[0].run.get("app", "?")) for point in study.points if point.records))
    return study


def _plan(path: Path) -> Row:
    if not path.exists():
        raise RecordError(f"{path.parent}: not a study's folder: it has no study.json; kontor study makes one")
    with read_as_damaged(path):
        plan = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        if not isinstance(plan, dict):
            raise ValueError("it is not an object")
        return plan


def _objects(value: object) -> list[Row]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _point(entry: Row) -> Point:
    def count(key: str, otherwise: int) -> int:
        value = entry.get(key)
        return value if isinstance(value, int) and value >= 0 else otherwise

    def mapping(key: str) -> Row:
        value = entry.get(key)
        return value if isinstance(value, dict) else {}

    return Point(str(entry["id"]), max(1, count("ranks", 1)), count("nodes", 1), max(1, count("threads", 1)), count("gpus", 0),
                 mapping("factors"), entry.get("ablation_of"), entry.get("ablation"), mapping("ablations"),
                 bool(entry.get("oversubscribed")), entry.get("skipped"))


def _last_attempts(entries: list[Row]) -> list[Row]:
    """A run that was tried again counts as its last attempt."""
    attempts = grouped(entries, lambda entry: (str(entry.get("point")), str(entry.get("repeat"))))
    return [{**of_run[-1], "attempts": len(of_run)} for of_run in attempts.values()]


def _run(entry: Row) -> Run:
    repeat = entry.get("repeat")
    return Run(str(entry.get("point")), repeat if isinstance(repeat, int) else 0, str(entry.get("state", "unknown")),
               str(entry.get("message") or ""), entry.get("exit_code"), str(entry.get("log") or ""), attempts=entry.get("attempts", 1))


def _read(run: Run, folder: Path, entry: Row, now: Callable[[str], object]) -> None:
    names = [str(entry[key]) for key in ("record", "result") if entry.get(key)]
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        run.problem = f"no file {' or '.join(names) or 'of a record'}"
        return
    try:
        now(str(path))
        run.record = read_record(str(path))
    except RecordError as error:
        run.problem = str(error)
        return
    if run.record.passed is False:
        run.state, run.record, run.message = "failed", None, "verification failed"

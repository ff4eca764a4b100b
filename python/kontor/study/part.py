# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inside a job: the runs of one size. Several jobs may do this at once, so each run's entry is a file of its own. These are adopted by
the study's state, as is a run whose study was killed before it could write."""

import argparse
import json
import shlex
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..messages import say
from . import session
from .folder import Folder
from .here import Here, Machine
from .make import read_json
from .plan import Point, run_order
from .problems import StudyError
from .progress import count
from .study import Study

ENTRY = ".run.json"  # beside a job's run: its entry in the state


class JobFolder(Folder):
    """The folder as a job has it: the state is read, runs are added beside it; the lock is that of the part and its repeats."""

    def __init__(self, path: Path, name: str, machine: Machine) -> None:
        super().__init__(path)
        self.lock_name = f"jobs/.{name}.lock"
        self.machine = machine

    def save(self) -> None:
        run: dict[str, Any] = self.runs[-1]
        self.write(f"{run['log'].removesuffix('.log')}{ENTRY}", json.dumps({**run, "machine": asdict(self.machine)}, indent=1) + "\n")


def make_part(study: Study, points: list[Point], machine: Machine, path: Path, arguments: argparse.Namespace, here: Here) -> int:
    """Returns the exit code."""
    repeats = sorted(set(arguments.repeat or range(1, study["repeats"] + 1)))
    if wrong := [repeat for repeat in repeats if not 1 <= repeat <= study["repeats"]]:
        raise StudyError(f"--repeat {wrong[0]}: the study has repeats 1 to {study['repeats']}", "E-STUDY-POINT")
    for point in points:
        if point.skipped:
            raise StudyError(f"{point.id} ({point.words()}) cannot run in this job: {point.skipped}", "E-STUDY-POINT")
    session.refuse_foreign(path, resume=True)
    session.check_launcher(study, here)
    with JobFolder(path, f"{arguments.part}-{'-'.join(map(str, repeats))}"[:200], machine) as folder:
        folder.load()
        session.refuse_other(folder, study, session.revision_of(study, here), None, arguments.allow_mixed)
        adopt(folder)
        order = [(point, repeat) for point, repeat in run_order(points, study["repeats"], folder.state["seed"])
                 if repeat in repeats and not folder.is_done(point.id, repeat)]
        say(f"study: {count(len(order), 'run')} of {study['study']} in this job")
        session.make_runs(folder, study, order, here, arguments.allow_mixed)
        return session.summary(folder, points, repeats, f"kontor study {shlex.quote(str(path))} --collect makes the table")


def adopt(folder: Folder) -> int:
    """Adds them to the state in memory; returns how many."""
    known = {(run["point"], run["repeat"], run["attempt"]) for run in folder.runs}
    points = {point["id"] for point in folder.state["points"]}
    found = [entry for file in sorted((folder.path / "runs").glob(f"*{ENTRY}")) if (entry := read_json(file)) and "attempt" in entry]
    listed = known | {(entry["point"], entry["repeat"], entry["attempt"]) for entry in found}
    found += filter(None, (orphan(folder, file, listed) for file in sorted((folder.path / "runs").glob("*.json")) if not file.name.endswith(ENTRY)))
    new = [entry for entry in found if entry["point"] in points and (entry["point"], entry["repeat"], entry["attempt"]) not in known]
    for entry in sorted(new, key=lambda entry: (entry["started"], entry["attempt"])):
        machine = entry.pop("machine", None)
        if machine and not folder.state["machine"].get("hosts"):
            folder.state["machine"] = machine
        folder.runs.append(entry)
    return len(new)


def orphan(folder: Folder, file: Path, listed: set[tuple[str, int, int]]) -> dict[str, Any] | None:
    """An entry for a whole record that no entry tells of. The mini-app has written it, so the run came to its end."""
    try:
        point, repeat, *attempt = file.stem.split("-")
        key = (point, int(repeat.removeprefix("r")), int(attempt[0].removeprefix("a")) if attempt else 1)
    except ValueError:
        return None
    record = None if key in listed else read_json(file)
    if record is None or record.get("git_revision") != folder.state.get("git_revision"):
        return None
    passed = record.get("verification", {}).get("passed")
    ended = datetime.fromtimestamp(file.stat().st_mtime, timezone.utc)
    try:
        seconds = (ended - datetime.fromisoformat(record["started"])).total_seconds()
    except (KeyError, ValueError):
        seconds = 0.0
    state = "ended early" if record.get("ended_early") else "failed" if passed in (0, False) else "passed"
    name = f"runs/{file.stem}"
    return {"point": key[0], "repeat": key[1], "attempt": key[2], "state": state, "exit_code": {"passed": 0, "failed": 1, "ended early": 4}[state],
            "message": "" if state == "passed" else "found in the folder: the study ended before it could tell of the run", "record": f"{name}.json",
            "result": f"{name}.h5" if (folder.path / f"{name}.h5").exists() else None, "log": f"{name}.log",
            "started": record.get("started", ""), "seconds": round(seconds, 3)}

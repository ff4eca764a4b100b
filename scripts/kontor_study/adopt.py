# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that were made but are not in the state yet: those of jobs, and one whose study was killed before it could write."""

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .folder import Folder
from .make import read_json

ENTRY = ".run.json"  # beside a job's run: its entry in the state


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

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study in its folder: begun or resumed if folder, revision and machine are the same, made, tabulated, told of."""

import contextlib
import os
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

from ..messages import say
from .folder import FORMAT, Folder
from .here import Here, Machine, differences
from .make import Interrupted, Maker
from .plan import Point
from .problems import StudyError, shown
from .progress import Progress, count, now
from .study import FREE_TO_CHANGE, Study
from .table import write_tables
from .tree import flow, parse


def refuse_foreign(path: Path, resume: bool) -> None:
    """Before anything is written."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # too long, or with a NUL character
        raise StudyError(f"{path}: no folder can be called so: {getattr(error, 'strerror', None) or error}", "E-STUDY-FOLDER") from error
    if path.exists() and not path.is_dir():
        raise StudyError(f"{path}: is not a folder", "E-STUDY-FOLDER")
    if (path / "study.json").exists():
        if not resume:
            raise StudyError(f"{path}: has a study already; --resume continues it, -o names another folder", "E-STUDY-FOLDER")
        return
    if resume:
        raise StudyError(f"{path}: there is no study to resume: it has no study.json", "E-STUDY-FOLDER")
    if path.is_dir():
        others = [name.name for name in path.iterdir() if name.name not in ("runs", "study.yaml", ".kontor-study-lock")]
        if others or any((path / "runs").glob("*")):
            told = ", ".join(sorted(others)[:3]) or "runs"
            raise StudyError(f"{path}: holds other files ({told}) and no study.json; -o names another folder", "E-STUDY-FOLDER")


def refuse_other(folder: Folder, study: Study, revision: str, machine: Machine | None, mixed: bool) -> None:
    """The folder must be of this study and, unless `mixed`, of this revision and machine. Says what differs."""
    if other := other_study(folder, study):
        raise StudyError("\n".join([f"{folder.path}: is the folder of another study; -o names another folder. In this study", *other]), "E-STUDY-FOLDER")
    before = folder.state.get("machine") or {}
    told = differences(asdict(machine), before) if machine and before.get("hosts") else []
    if folder.state.get("git_revision") != revision:
        told.insert(0, f"revision {revision}, was {folder.state.get('git_revision')}")
    if told and not mixed:
        raise StudyError("\n".join([f"{folder.path}: not all runs would be of one revision and machine; --allow-mixed takes them all the same. "
                                    "Now it is", *told]), "E-STUDY-FOLDER")
    for line in told:
        say(f"study: mixed: {line}")
        folder.state.setdefault("mixed", []).append(line)


def other_study(folder: Folder, study: Study) -> list[str]:
    """In what the folder's study differs, in words; empty if it is this one."""
    path = folder.path / "study.yaml"
    try:
        before = parse(path.read_text(encoding="utf-8"), str(path)).plain_value()
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", "E-STUDY-FOLDER") from error
    now = parse(study.resolved(), study.file).plain_value()
    told = []
    for key in dict.fromkeys([*now, *before]):
        mine, its = now.get(key), before.get(key)
        if key in FREE_TO_CHANGE or (key == "seed" and mine == "auto") or mine == its:
            continue
        told.append(f"{key} is {shown(flow(mine), 200)}, was {shown(flow(its), 200)}")
    decks = folder.state.get("decks", {})
    told += [f"{deck.path} has changed since" for deck in study.decks if decks.get(deck.path, {}).get("sha256", deck.sha256) != deck.sha256]
    return told


def keep_plan(folder: Folder, study: Study, points: list[Point], revision: str, machine: Machine | None) -> None:
    """What the folder says of the study, whatever its runs."""
    old = folder.state
    apps, decks = sorted({deck.app for deck in study.decks}), [deck.path for deck in study.decks]
    unknown = Machine([], "", 0, 0, [], "", nodes=0)  # of jobs: known when their runs are
    folder.state = {
        "format": FORMAT, "study": study["study"], "kind": study["kind"], "app": apps[0] if len(apps) == 1 else None,
        "deck": decks[0] if len(decks) == 1 else None, "decks": {deck.path: {"app": deck.app, "sha256": deck.sha256} for deck in study.decks},
        "baseline": study["baseline"], "repeats": study["repeats"], "seed": study["seed"], "created": old.get("created", now()),
        "git_revision": old.get("git_revision", revision), "machine": old.get("machine") or asdict(machine or unknown),
        **{key: old[key] for key in ("mixed", "jobs") if key in old},
        "points": [asdict(point) for point in points], "runs": old.get("runs", []),
    }
    if machine and not folder.state["machine"]["hosts"]:
        folder.state["machine"] = asdict(machine)
    folder.write("study.yaml", study.resolved())
    folder.save()


def revision_of(study: Study, here: Here) -> str:
    """What the programs say that they were built from."""
    revisions = set()
    for app in sorted({deck.app for deck in study.decks}):
        done = subprocess.run([here.build / "bin" / app, "--version"], capture_output=True, text=True, check=False, env=here.environment())
        if done.returncode != 0:
            said = " ".join(done.stderr.split())[:300]
            raise StudyError(f"{here.build / 'bin' / app} --version failed with exit code {done.returncode}: {said}", "E-STUDY-SUBMIT", code=3)
        revisions.add(done.stdout.strip().rpartition("(")[2].rstrip(")") or "unknown")
    if len(revisions) > 1:
        raise StudyError(f"the programs are of revisions {', '.join(sorted(revisions))}; build them again: kontor build", "E-STUDY-SUBMIT")
    return revisions.pop()


def check_launcher(study: Study, here: Here) -> None:
    """Before the first run: there must be something that starts it."""
    own = os.environ.get("KONTOR_LAUNCHER", "").split()
    if own and not shutil.which(own[0]):
        raise StudyError(f"KONTOR_LAUNCHER: there is no command {own[0]} here", "E-LAUNCH-COMMAND")
    done = subprocess.run([here.kontor, "run", str(study.decks[0].file), "-n", "1", "--dry-run"], capture_output=True, text=True, check=False,
                          env=here.environment())
    if done.returncode != 0:
        raise StudyError(done.stderr.strip().removeprefix("kontor: "), "E-LAUNCH-COMMAND", code=done.returncode if done.returncode in (2, 3) else 2)


def make_runs(folder: Folder, study: Study, order: list[tuple[Point, int]], here: Here, mixed: bool) -> None:
    """Raises Interrupted and StudyError."""
    progress, revision = Progress(), None if mixed else folder.state["git_revision"]
    try:
        with Maker(folder, study.decks_by_path, here, progress, study["timeout"], revision) as maker:
            maker.make(order)
    finally:
        progress.end()


def make_all(folder: Folder, study: Study, order: list[tuple[Point, int]], here: Here, mixed: bool) -> None:
    """The same, and the tables, whatever ends it."""
    try:
        make_runs(folder, study, order, here, mixed)
    except (Interrupted, StudyError):
        with contextlib.suppress(StudyError):  # what has ended it is told; --resume writes them
            tabulate(folder)
        raise
    tabulate(folder)


def tabulate(folder: Folder) -> None:
    folder.remove_left()
    if left_out := write_tables(folder):
        say(f"study: {left_out}")


def summary(folder: Folder, points: list[Point], repeats: list[int], where: str) -> int:
    """Tells what came of it; returns the exit code."""
    latest = folder.latest()
    wanted = [(point.id, repeat) for point in points for repeat in repeats]
    runs = [latest[key] for key in wanted if key in latest]
    states = {state: [run for run in runs if run["state"] == state] for state in ("passed", "failed", "ended early")}
    ids = {point.id for point in points}
    again = sum(run["state"] == "failed" and run["point"] in ids for run in folder.runs) - len(states["failed"])
    told = [f"{len(found)} {state}" for state, found in states.items() if found or state == "passed"]
    told += [f"{len(wanted) - len(runs)} missing"] * (len(runs) < len(wanted)) + [f"{again} failed at first"] * (again > 0)
    print(f"{count(len(wanted), 'run')} of {count(len(points), 'point')}: {', '.join(told)}; {where}")
    words = {point.id: point.words() for point in points}
    for run in states["failed"]:
        print(f"  {run['point']} repeat {run['repeat']} ({words[run['point']]}): exit code {run['exit_code']}, {run['message']} "
              f"({folder.path / run['log']})")
    # A launcher that cannot start anything may leave 1, but no record.
    return max((run["exit_code"] if run["exit_code"] == 2 or run["exit_code"] == 1 and run["record"] else 3 for run in states["failed"]), default=0)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study in its folder: begun, or resumed if folder, revision and machine are the same; made, tabulated, summed up."""

import contextlib
import os
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

from kontor.report.text import counted

from ..messages import say
from ..place import Place
from .decks import environment
from .folder import FORMAT, Folder
from .machine import Machine, differences
from .make import Interrupted, Maker
from .plan import Point
from .problems import StudyError, shown
from .progress import Progress, now
from .study import Study
from .table import write_table
from .tree import flow, parse

FREE_TO_CHANGE = ("repeats", "timeout", "launch")  # when a study is resumed


def refuse_foreign(path: Path, resume: bool) -> None:
    """Before anything is written."""
    error = Folder(path).error
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
    except (OSError, ValueError) as why:  # too long, or with a NUL character
        raise error(f"no folder can be called so: {getattr(why, 'strerror', None) or why}") from why
    if path.exists() and not path.is_dir():
        raise error("is not a folder")
    is_study = (path / "study.json").exists()
    if is_study and not resume:
        raise error("has a study already; --resume continues it, -o names another folder")
    if resume and not is_study:
        raise error("there is no study to resume: it has no study.json")
    if path.is_dir() and not is_study:
        others = {name.name for name in path.iterdir()} - {"runs", "study.yaml", ".kontor-study-lock"}
        if others or any((path / "runs").glob("*")):
            told = ", ".join(sorted(others)[:3]) or "runs"
            raise error(f"holds other files ({told}) and no study.json; -o names another folder")


def refuse_other(folder: Folder, study: Study, revision: str, machine: Machine | None, mixed: bool) -> None:
    """The folder must be of this study and, unless `mixed`, of this revision and machine. Says what differs."""
    if other := other_study(folder, study):
        raise folder.error("\n".join(["is the folder of another study; -o names another folder. In this study",
                                      *other]))
    before = folder.state.get("machine") or {}
    told = differences(asdict(machine), before) if machine and before.get("hosts") else []
    if folder.state.get("git_revision") != revision:
        told.insert(0, f"revision {revision}, was {folder.state.get('git_revision')}")
    if told and not mixed:
        raise folder.error("\n".join(["not all runs would be of one revision and machine; --allow-mixed takes them all"
                                      " the same. Now it is", *told]))
    for line in told:
        say(f"study: mixed: {line}")
        folder.state.setdefault("mixed", []).append(line)


def other_study(folder: Folder, study: Study) -> list[str]:
    """In what the folder's study differs, in words; empty if it is this one."""
    path = folder.path / "study.yaml"
    try:
        before = parse(path.read_text(encoding="utf-8", errors="replace"), str(path)).plain_value()
    except OSError as error:
        raise folder.error(f"study.yaml cannot be read: {error.strerror}") from error
    now = parse(study.resolved(), study.file).plain_value()
    told = []
    for key in dict.fromkeys([*now, *before]):
        mine, its = now.get(key), before.get(key)
        if key not in FREE_TO_CHANGE and mine != its and (key, mine) != ("seed", "auto"):
            told.append(f"{key} is {shown(flow(mine), 200)}, was {shown(flow(its), 200)}")
    sums = {name: deck["sha256"] for name, deck in folder.state.get("decks", {}).items()}
    changed = [deck.path for deck in study.decks if sums.get(deck.path, deck.sha256) != deck.sha256]
    return told + [f"{name} has changed since" for name in changed]


def keep_plan(folder: Folder, study: Study, points: list[Point], revision: str, machine: Machine | None) -> None:
    """What the folder says of the study, whatever its runs."""
    old, decks = folder.state, study.decks
    unknown = Machine([], "", 0, 0, [], "", nodes=0)  # of jobs: known when their runs are
    folder.state = {
        "format": FORMAT, "study": study["study"], "kind": study["kind"],
        "app": decks[0].app if len(study.apps) == 1 else None, "deck": decks[0].path if len(decks) == 1 else None,
        "decks": {deck.path: {"app": deck.app, "sha256": deck.sha256} for deck in decks},
        "baseline": study["baseline"], "repeats": study["repeats"], "seed": study["seed"],
        "created": old.get("created", now()), "git_revision": old.get("git_revision", revision),
        "machine": old.get("machine") or asdict(machine or unknown),
        **{key: old[key] for key in ("mixed", "jobs") if key in old},
        "points": [asdict(point) for point in points], "runs": old.get("runs", []),
    }
    if machine and not folder.state["machine"]["hosts"]:
        folder.state["machine"] = asdict(machine)
    folder.write("study.yaml", study.resolved())
    folder.save()


def revision_of(study: Study, place: Place) -> str:
    """What the programs say that they were built from."""
    revisions = set()
    for program in map(place.program, study.apps):
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, env=environment())
        if done.returncode != 0:
            said = " ".join(done.stderr.split())[:300]
            raise StudyError(f"{program} --version failed with exit code {done.returncode}: {said}",
                             "E-STUDY-SUBMIT", code=3)
        revisions.add(done.stdout.strip().rpartition("(")[2].rstrip(")") or "unknown")
    if len(revisions) > 1:
        raise StudyError(f"the programs are of revisions {', '.join(sorted(revisions))};"
                         " build them again", "E-STUDY-SUBMIT")
    return revisions.pop()


def check_launcher(study: Study, place: Place) -> None:
    """Before the first run: there must be something that starts it."""
    own = os.environ.get("KONTOR_LAUNCHER", "").split()
    if own and not shutil.which(own[0]):
        raise StudyError(f"KONTOR_LAUNCHER: there is no command {own[0]} here", "E-LAUNCH-COMMAND")
    words = [str(place.kontor), "run", str(study.decks[0].file), "-n", "1", "--dry-run"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment())
    if done.returncode != 0:
        raise StudyError(done.stderr.strip().removeprefix("kontor: "), "E-LAUNCH-COMMAND",
                         code=done.returncode if done.returncode in (2, 3) else 2)


def make_all(folder: Folder, study: Study, order: list[tuple[Point, int]], place: Place, mixed: bool
             ) -> Interrupted | StudyError | None:
    """Returns what has ended it before all runs were made."""
    progress = Progress()
    try:
        with Maker(folder, study.decks_by_path, place, progress, study["timeout"], mixed) as maker:
            maker.make(order)
    except (Interrupted, StudyError) as error:
        return error
    finally:
        progress.end()
    return None


def tabulate(folder: Folder) -> None:
    folder.remove_left()
    write_table(folder)


def summary(folder: Folder, points: list[Point], repeats: list[int], where: str) -> int:
    """Prints what came of the runs; returns the exit code."""
    latest, words = folder.latest(), {point.id: point.words() for point in points}
    wanted = [(point, repeat) for point in words for repeat in repeats]
    runs = [latest[key] for key in wanted if key in latest]
    states = {state: [run for run in runs if run["state"] == state] for state in ("passed", "failed", "ended early")}
    again = sum(run["state"] == "failed" and run["point"] in words for run in folder.runs) - len(states["failed"])
    told = [f"{len(found)} {state}" for state, found in states.items() if found or state == "passed"]
    told += [f"{number} {what}" for number, what in ((len(wanted) - len(runs), "missing"), (again, "failed at first"))
             if number]
    print(f"{counted(len(wanted), 'run')} of {counted(len(points), 'point')}: {', '.join(told)}; {where}")
    for run in states["failed"]:
        print(f"  {run['point']} repeat {run['repeat']} ({words[run['point']]}): exit code {run['exit_code']}, "
              f"{run['message']} ({folder.path / run['log']})")
    # A launcher that cannot start anything may leave 1, but no record.
    is_own = [run["exit_code"] == 2 or run["exit_code"] == 1 and run["record"] for run in states["failed"]]
    return max((run["exit_code"] if own else 3 for run, own in zip(states["failed"], is_own)), default=0)

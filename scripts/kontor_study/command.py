# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: from its arguments to its exit code."""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .description import json_schema
from .folder import FORMAT, Folder
from .here import Here, Machine, describe_machine, differences
from .make import Interrupted, Maker, shown_command
from .plan import Point, make_plan, run_order
from .problems import StudyError
from .progress import Progress, say, span
from .same import other_study
from .select import selector
from .study import Study, read_study
from .table import write_tables

DESCRIPTION = "Makes the runs of a study, resumes it, or shows what it would do."
EPILOG = """Exit codes: 0 all runs passed, 1 a verification failed, 2 bad study or usage, 3 a run failed at run time,
128 + N ended by signal N. docs/studies.md tells how to write a study."""


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kontor study", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("study", metavar="STUDY.yaml", nargs="?", help="the study, or the folder of one that was begun")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where results go (default: a folder of the study's name, here)")
    parser.add_argument("--resume", action="store_true", help="go on with the study in FOLDER: make the runs that are missing")
    parser.add_argument("--retry-failed", action="store_true", help="with --resume: make those that have failed again")
    parser.add_argument("--allow-mixed", action="store_true", help="with --resume: on another revision or machine, too")
    parser.add_argument("--only", metavar="EXPR", help='only these points: --only "ranks<=4 and comm.backend==view"')
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="override a key of the study: --set repeats=1")
    parser.add_argument("--reduced", action="store_true", help="small: as the lines `# test:` of the study and its decks say")
    parser.add_argument("--dry-run", action="store_true", help="show every point with its command and an estimate; run nothing")
    parser.add_argument("--print", action="store_true", help="print the study with every default filled in, and stop")
    parser.add_argument("--schema", action="store_true", help="print the JSON schema of studies, and stop")
    arguments = parser.parse_args(words)
    if not arguments.study and not arguments.schema:
        parser.error("no study given")
    return arguments


def main(words: list[str]) -> int:
    """Returns the exit code."""
    try:
        return act(parse_arguments(words), Here())
    except StudyError as error:
        print(error.text(), file=sys.stderr)
        return error.code
    except Interrupted as error:
        say(f"study: interrupted by signal {error}; --resume goes on")
        return 128 + error.number


def act(arguments: argparse.Namespace, here: Here) -> int:
    if arguments.schema:
        print(json.dumps(json_schema(), indent=2))
        return 0
    if Path(arguments.study).is_dir():
        arguments.output = arguments.output or arguments.study
        arguments.study = str(Path(arguments.study) / "study.yaml")
    study = read_study(arguments.study, arguments.set, arguments.reduced, here)
    if arguments.print:
        print(study.resolved(), end="")
        return 0
    machine = describe_machine()
    points = make_plan(study, machine)
    chosen = selector(arguments.only, points) if arguments.only else lambda _: True
    selected = [point for point in points if chosen(point)]
    if not selected:
        raise StudyError(f"--only {arguments.only}: no point is so")
    folder = Path(arguments.output or study["study"])
    if arguments.dry_run:
        show_plan(study, selected, here, folder)
        return 0
    return run(study, points, selected, machine, folder, arguments, here)


def show_plan(study: Study, points: list[Point], here: Here, folder: Path) -> None:
    decks = {deck.path: deck for deck in study.decks}
    for point in points:
        print(f"{point.id}  {point.words()}")
        if point.skipped:
            print(f"      cannot run here: {point.skipped}")
            continue
        more = ", more ranks than cores" if point.oversubscribed else ""
        print(f"      {shown_command(point, decks[point.deck], here, str(folder / 'runs' / f'{point.id}-r1'))}")
        print(f"      about {span(point.estimate_seconds)} ({point.estimate_basis}){more}")
    able = [point for point in points if not point.skipped]
    total = study["repeats"] * sum(point.estimate_seconds for point in able)
    print(f"{len(points)} points, {len(points) - len(able)} of which cannot run here; {study['repeats']} repeats: "
          f"{study['repeats'] * len(able)} runs, about {span(total)}")
    for deck in study.decks:
        if deck.schema is None:
            say(f"study: the keys of {deck.path} are not checked, because {deck.app} is not built yet")


def run(study: Study, points: list[Point], selected: list[Point], machine: Machine, path: Path, arguments: argparse.Namespace, here: Here) -> int:
    able = [point for point in selected if not point.skipped]
    for point in selected:
        if point.skipped:
            say(f"study: {point.id} ({point.words()}) cannot run here: {point.skipped}")
    if not able:
        raise StudyError("none of the points can run here")
    refuse_foreign(path, arguments.resume)
    revision = build(study, here)
    check_launcher(able[0], study, here)
    with Folder(path) as folder:
        if folder.file.exists():
            if not arguments.resume:
                raise StudyError(f"{path}: has a study already; --resume goes on with it, -o names another folder")
            folder.load()
            refuse_other(folder, study, revision, machine, arguments.allow_mixed)
        seed = folder.state.get("seed") if folder.state else None
        if seed is None:
            seed = random.SystemRandom().randrange(2**31) if study["seed"] == "auto" else study["seed"]
        study.values["seed"] = seed
        keep_plan(folder, study, points, revision, machine, seed)
        if arguments.retry_failed:
            folder.state["runs"] = [one for one in folder.runs if one["state"] != "failed"]
        adopt(folder)
        order = [(point, repeat) for point, repeat in run_order(points, study["repeats"], seed)
                 if point in able and not folder.is_done(point.id, repeat)]
        return make_all(folder, study, order, able, revision, here, arguments.allow_mixed)


def make_all(folder: Folder, study: Study, order: list[tuple[Point, int]], able: list[Point], revision: str, here: Here, mixed: bool) -> int:
    def check(record: dict[str, Any]) -> str | None:
        found = record.get("git_revision")
        return None if mixed or found == revision else f"the program is of revision {found} now, was {revision}; --allow-mixed takes it all the same"

    progress = Progress()
    decks = {deck.path: deck for deck in study.decks}
    try:
        with Maker(folder, decks, here, progress, study["timeout"], check) as maker:
            maker.make(order)
    finally:
        progress.end()
        if left_out := write_tables(folder):
            say(f"study: {left_out}")
    return summary(folder, study, able)


def summary(folder: Folder, study: Study, able: list[Point]) -> int:
    """Tells what came of it; returns the exit code."""
    latest = folder.latest()
    runs = [latest[key] for key in ((point.id, repeat) for point in able for repeat in range(1, study["repeats"] + 1)) if key in latest]
    failed = [run for run in runs if run["state"] == "failed"]
    words = {point.id: point.words() for point in able}
    again = sum(run["state"] == "failed" for run in folder.runs) - len(failed)
    print(f"{len(runs)} runs of {len(able)} points: {len(runs) - len(failed)} passed, {len(failed)} failed"
          f"{f', {again} failed at first' if again else ''}; {folder.path / 'study.csv'} has the table")
    for run in failed:
        print(f"  {run['point']} repeat {run['repeat']} ({words[run['point']]}): exit code {run['exit_code']}, {run['message']} ({folder.path / run['log']})")
    codes = {code_of(run) for run in failed}
    return next((code for code in (3, 2, 1) if code in codes), 0)


def code_of(run: dict[str, Any]) -> int:
    """The study's exit code for a failed run."""
    if run["exit_code"] == 1 and run["record"]:
        return 1
    return 2 if run["exit_code"] == 2 else 3


def refuse_foreign(path: Path, resume: bool) -> None:
    if path.exists() and not path.is_dir():
        raise StudyError(f"{path}: is not a folder")
    own = path / "study.json"
    if resume and not own.exists():
        raise StudyError(f"{path}: there is no study to resume: it has no study.json")
    if path.is_dir() and not own.exists():
        others = [name.name for name in path.iterdir() if name.name not in ("runs", "study.yaml", ".kontor-study-lock")]
        if others:
            raise StudyError(f"{path}: holds other files ({', '.join(sorted(others)[:3])}) and no study; -o names another folder")


def refuse_other(folder: Folder, study: Study, revision: str, machine: Machine, mixed: bool) -> None:
    if other := other_study(folder, study):
        raise StudyError("\n".join([f"{folder.path}: is the folder of another study", *other, "-o names another folder"]))
    told = differences(machine.plain(), folder.state.get("machine") or {})
    if folder.state.get("git_revision") != revision:
        told.insert(0, f"revision {revision}, was {folder.state.get('git_revision')}")
    if told and not mixed:
        raise StudyError("\n".join([f"{folder.path}: runs would not be of one revision and machine; --allow-mixed takes them all the same", *told]))
    for line in told:
        say(f"study: mixed: {line}")


def keep_plan(folder: Folder, study: Study, points: list[Point], revision: str, machine: Machine, seed: int) -> None:
    old = folder.state
    now = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    apps, decks = sorted({deck.app for deck in study.decks}), [deck.path for deck in study.decks]
    folder.state = {
        "format": FORMAT, "study": study["study"], "kind": study["kind"], "app": apps[0] if len(apps) == 1 else None,
        "deck": decks[0] if len(decks) == 1 else None, "decks": {deck.path: {"app": deck.app, "sha256": deck.sha256} for deck in study.decks},
        "baseline": study["baseline"], "repeats": study["repeats"], "seed": seed, "created": old.get("created", now),
        "git_revision": old.get("git_revision", revision), "machine": old.get("machine", machine.plain()),
        "points": [point.plain() for point in points], "runs": old.get("runs", []),
    }
    folder.write("study.yaml", study.resolved())
    folder.save()


def adopt(folder: Folder) -> None:
    """Nothing yet."""


def build(study: Study, here: Here) -> str:
    """Builds the apps once, before the first run; returns the revision that they are of."""
    revisions = set()
    for app in sorted({deck.app for deck in study.decks}):
        done = subprocess.run([here.build / "bin" / app, "--version"], capture_output=True, text=True, check=False, env=here.environment())
        revisions.add(done.stdout.strip().rpartition("(")[2].rstrip(")") or "unknown")
    return ", ".join(sorted(revisions))


def check_launcher(point: Point, study: Study, here: Here) -> None:
    """Before the first run: `kontor run` must be able to say how it would be started."""

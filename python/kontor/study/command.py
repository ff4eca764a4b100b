# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: from its arguments to its exit code."""

import argparse
import os
import random
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kontor.report.text import counted

from ..messages import Failure, said, say
from ..place import Place
from .folder import FORMAT, Folder
from .jobs import read_template, refuse_queued, submit
from .machine import Machine, describe_machine
from .make import Interrupted, Maker, now, shown_command
from .plan import Point, make_plan, run_order, select
from .study import Study, read_study, settings_of_test
from .table import write_table

DESCRIPTION = "Makes the runs of a study, resumes it, writes job scripts for it, or shows what it would do."
EPILOG = """Exit codes: 0 all runs passed, 1 a verification failed, 2 bad study or usage, 3 a run failed at run time,
128 + N ended by signal N. docs/studies.md describes studies."""
FLAGS = {
    "--dry-run": "show every point with its command; run nothing",
    "--resume": "resume the study in FOLDER: make the missing runs, and failed ones again",
    "--only KEY=VALUE": "only points with this factor; again for more: --only ranks=1 --only ranks=2",
    "--set KEY=VALUE": "override a key of the study: --set repeats=1",
    "--reduced": "use the small settings of the lines `# test:` in the study and its decks",
    "--submit": "write job scripts to FOLDER/jobs/ and submit them if a scheduler is found",
    "--job-template FILE": "with --submit: write the scripts from this one, for any scheduler; submit none",
    "--job": "used by job scripts: make the missing runs of FOLDER, beside other jobs",
}
SEVERAL: dict[str, Any] = {"action": "append", "default": []}


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kontor study", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("study", metavar="STUDY.yaml", nargs="?", help="the study, or the folder of a started one")
    parser.add_argument("-o", "--output", metavar="FOLDER",
                        help="where results go (default: a folder of the study's name, here)")
    for option, help_of_option in FLAGS.items():
        name, _, metavar = option.partition(" ")
        how: dict[str, Any] = {"metavar": metavar} if metavar else {"action": "store_true"}
        how |= SEVERAL if metavar == "KEY=VALUE" else {}
        parser.add_argument(name, help=help_of_option, **how)
    arguments = parser.parse_args(words)
    if arguments.job_template is not None and not arguments.submit:
        parser.error("--job-template is for --submit")
    if arguments.job and (arguments.submit or arguments.set):
        parser.error("--job takes the study in FOLDER as it is; the other options are for --resume")
    if not arguments.study:
        names = sorted(file.name for file in (Place.here().root / "inputs/studies").glob("*.yaml"))
        parser.error(f"no study given; there are {' '.join(f'inputs/studies/{name}' for name in names)}")
    return arguments


def main(words: list[str]) -> int:
    """Returns the exit code."""
    try:
        return act(parse_arguments(words), Place.here())
    except Interrupted as error:
        say(f"study: interrupted by signal {error}; --resume continues it")
        return 128 + error.number


def act(arguments: argparse.Namespace, place: Place) -> int:
    if os.path.isdir(arguments.study):
        arguments.output = arguments.output or arguments.study
        arguments.study = str(Path(arguments.study) / "study.yaml")
    template = "" if arguments.job_template is None else read_template(arguments.job_template)
    small = [*settings_of_test(Path(arguments.study)), "reduced=true"] if arguments.reduced else []
    study = read_study(arguments.study, [*small, *arguments.set], place,
                       build=not (arguments.dry_run or arguments.job))
    machine = None if arguments.submit else describe_machine(place)
    points = make_plan(study, machine)
    selected = select(points, arguments.only)
    path = Path(arguments.output or study["study"])
    if arguments.dry_run:
        show_plan(study, selected, place, path)
        return 0
    return run(study, points, selected, machine, path, arguments, place, template)


def run(study: Study, points: list[Point], selected: list[Point], machine: Machine | None, path: Path,
        arguments: argparse.Namespace, place: Place, template: str) -> int:
    """Makes or submits the missing runs. Points that cannot run here are reported."""
    job, able = arguments.job, [point for point in selected if not point.skipped]
    for point in selected:
        if point.skipped:
            say(f"study: {point.id} ({point.words()}) cannot run here: {point.skipped}")
    if not able or job and able != selected:
        raise Failure(f"{'not all' if job else 'none'} of the points can run here", error_id="E-STUDY-POINT")
    resume = bool(arguments.resume or job)
    Folder(path).refuse_foreign(resume)
    with Folder(path, machine if job else None) as folder:
        revision = revision_of(study, place)
        folder.refuse_foreign(resume)  # now that nobody else can make one
        if resume:
            folder.load()
            folder.refuse_other(study, revision, None if job else machine)
            study.values["seed"] = folder.state["seed"]
            folder.adopt()
        elif study["seed"] == "auto":
            study.values["seed"] = random.SystemRandom().randrange(2**31)
        if not job:
            refuse_queued(folder)
            keep_plan(folder, study, points, revision, machine, place)
        missing = [(point, repeat) for point, repeat in run_order(points, study["repeats"], study["seed"])
                   if point in able and not folder.is_done(point.id, repeat)]
        if arguments.submit and missing:
            write_table(folder)
            submit(folder, missing, study, place, template)
            return 0
        try:
            with Maker(folder, study, place) as maker:
                maker.make(missing)
        finally:
            if not job:
                write_table(folder)
        where = f"kontor report {shlex.quote(str(path))} shows them" if job else f"{path / 'study.csv'} has the table"
        return summary(folder, able, study["repeats"], where)


def show_plan(study: Study, points: list[Point], place: Place, folder: Path) -> None:
    """Every point with its command, and what cannot run here with the reason."""
    able = [point for point in points if not point.skipped]
    for point in points:
        print(f"{point.id}  {point.words()}")
        if point.skipped:
            print(f"      cannot run here: {point.skipped}")
            continue
        base = str(folder / "runs" / f"{point.id}-r1")
        print(f"      {shown_command(point, study.decks_by_path[point.deck], place, base)}")
        if point.oversubscribed:
            print("      more ranks than cores")
    skipped = f", {len(points) - len(able)} of them cannot run here" if len(able) < len(points) else ""
    print(f"{counted(len(points), 'point')}{skipped}; {counted(study['repeats'], 'repeat')}:"
          f" {counted(study['repeats'] * len(able), 'run')}")
    for deck in study.decks:
        if deck.schema is None:
            say(f"study: {deck.app} is not built yet, so what the study sets in {deck.path} is not checked")


def keep_plan(folder: Folder, study: Study, points: list[Point], revision: str, machine: Machine | None,
              place: Place) -> None:
    """What the folder says of the study, whatever its runs."""
    old, decks = folder.state, study.decks
    unknown = Machine([], "", 0, 0, [], "", nodes=0)  # of jobs: known when their runs are
    folder.state = {
        "format": FORMAT, "study": study["study"], "kind": study["kind"], "values": study.values,
        "app": decks[0].app if len(study.apps) == 1 else None, "deck": decks[0].path if len(decks) == 1 else None,
        "decks": {deck.path: {"app": deck.app, "sha256": deck.sha256} for deck in decks},
        "baseline": study["baseline"], "repeats": study["repeats"], "seed": study["seed"],
        "created": old.get("created", now()), "git_revision": old.get("git_revision", revision),
        "machine": old.get("machine") or asdict(machine or unknown),
        "points": [asdict(point) for point in points],
        "runs": old.get("runs", []), "jobs": old.get("jobs", []),
    }
    if machine and not folder.state["machine"]["hosts"]:
        folder.state["machine"] = asdict(machine)
    folder.write("study.yaml", study.text(place))
    folder.save()


def revision_of(study: Study, place: Place) -> str:
    """What the programs say that they were built from."""
    known = {program: said(str(program), "--version").strip() for program in map(place.program, study.apps)}
    if silent := [str(program) for program, version in known.items() if not version]:
        raise Failure(f"{silent[0]} --version says nothing", 3, "E-STUDY-SUBMIT")
    revisions = {version.rpartition("(")[2].rstrip(")") for version in known.values()}
    if len(revisions) > 1:
        raise Failure(f"the programs are of revisions {', '.join(sorted(revisions))}; build them again",
                      error_id="E-STUDY-SUBMIT")
    return revisions.pop()


def summary(folder: Folder, points: list[Point], repeats: int, where: str) -> int:
    """Prints what came of the runs; returns the exit code."""
    words = {point.id: point.words() for point in points}
    latest = {(run["point"], run["repeat"]): run for run in folder.runs}
    wanted = [(point, repeat) for point in words for repeat in range(1, repeats + 1)]
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

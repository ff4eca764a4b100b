# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: from its arguments to its exit code."""

import argparse
import contextlib
import json
import os
import random
import shlex
import sys
from pathlib import Path
from typing import Any

from kontor.report.text import counted

from ..messages import say
from ..place import Place
from . import session
from .description import json_schema
from .folder import Folder
from .machine import Machine, describe_machine
from .make import Interrupted, shown_command
from .plan import Point, estimate, make_plan, run_order
from .only import selector
from .problems import StudyError
from .progress import span
from .study import Study, read_study
from .submit import read_template, refuse_queued, submit

DESCRIPTION = "Makes the runs of a study, resumes it, writes job scripts for it, or shows what it would do."
EPILOG = """Exit codes: 0 all runs passed, 1 a verification failed, 2 bad study or usage, 3 a run failed at run time,
128 + N ended by signal N. docs/studies.md describes studies."""
FLAGS = {
    "--dry-run": "show every point with its command and an estimate; run nothing",
    "--resume": "resume the study in FOLDER: make the missing runs",
    "--retry-failed": "with --resume: repeat failed runs, too",
    "--allow-mixed": "with --resume: on another revision or machine, too",
    "--only EXPR": 'only these points: --only "ranks<=4 and comm.backend==view"',
    "--set KEY=VALUE": "override a key of the study: --set repeats=1",
    "--reduced": "use the small settings of the lines `# test:` in the study and its decks",
    "--submit": "write job scripts to FOLDER/jobs/ and submit them if a scheduler is found",
    "--job-template FILE": "with --submit: write the scripts from this one, for any scheduler; submit none",
    "--job": "used by job scripts: make the missing runs of FOLDER, beside other jobs",
    "--print": "print the study with every default filled in, and stop",
    "--schema": "print the JSON schema of studies, and stop",
}
SEVERAL: dict[str, Any] = {"--set": {"action": "append", "default": []}}


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kontor study", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("study", metavar="STUDY.yaml", nargs="?", help="the study, or the folder of a started one")
    parser.add_argument("-o", "--output", metavar="FOLDER",
                        help="where results go (default: a folder of the study's name, here)")
    for option, words_of_help in FLAGS.items():
        name, _, metavar = option.partition(" ")
        how = SEVERAL.get(name, {}) | {"metavar": metavar} if metavar else {"action": "store_true"}
        parser.add_argument(name, help=words_of_help, **how)
    arguments = parser.parse_args(words)
    if arguments.job_template is not None and not arguments.submit:
        parser.error("--job-template is for --submit")
    if arguments.job and (arguments.submit or arguments.set or arguments.allow_mixed or arguments.retry_failed):
        parser.error("--job takes the study in FOLDER as it is; the other options are for --resume")
    if not arguments.study and not arguments.schema:
        names = sorted(file.name for file in (Place.here().root / "inputs/studies").glob("*.yaml"))
        parser.error(f"no study given; there are {' '.join(f'inputs/studies/{name}' for name in names)}")
    return arguments


def main(words: list[str]) -> int:
    """Returns the exit code."""
    try:
        return act(parse_arguments(words), Place.here())
    except StudyError as error:
        print(error.text(), file=sys.stderr)
        return error.code
    except Interrupted as error:
        say(f"study: interrupted by signal {error}; --resume continues it")
        return 128 + error.number


def act(arguments: argparse.Namespace, place: Place) -> int:
    if arguments.schema:
        print(json.dumps(json_schema(), indent=2))
        return 0
    if os.path.isdir(arguments.study):
        arguments.output = arguments.output or arguments.study
        arguments.study = str(Path(arguments.study) / "study.yaml")
    template = "" if arguments.job_template is None else read_template(arguments.job_template)
    looks = arguments.print or arguments.dry_run or arguments.job
    study = read_study(arguments.study, arguments.set, arguments.reduced, place, build=not looks)
    if arguments.print:
        print(study.resolved(), end="")
        return 0
    machine = None if arguments.submit else describe_machine(place)
    points = make_plan(study, machine)
    chosen = selector(arguments.only, points) if arguments.only else lambda _: True
    selected = [point for point in points if chosen(point)]
    if not selected:
        raise StudyError(f"--only {arguments.only}: there is no such point; --dry-run shows all", "E-STUDY-POINT")
    path = Path(arguments.output or study["study"])
    if arguments.dry_run:
        show_plan(study, selected, place, path)
        return 0
    return run(study, points, selected, machine, path, arguments, place, template)


def run(study: Study, points: list[Point], selected: list[Point], machine: Machine | None, path: Path,
        arguments: argparse.Namespace, place: Place, template: str) -> int:
    """Makes or submits the missing runs. Points that cannot run here are reported."""
    job, repeats = arguments.job, list(range(1, study["repeats"] + 1))
    able = [point for point in selected if not point.skipped]
    for point in selected:
        if point.skipped:
            say(f"study: {point.id} ({point.words()}) cannot run here: {point.skipped}")
    if not able or job and able != selected:
        raise StudyError(f"{'not all' if job else 'none'} of the points can run here", "E-STUDY-POINT")
    resume = bool(arguments.resume or job)
    session.refuse_foreign(path, resume)
    if machine:
        session.check_launcher(study, place)
    with Folder(path, machine if job else None) as folder:
        revision = session.revision_of(study, place)
        session.refuse_foreign(path, resume)  # now that nobody else can make one
        if resume:
            folder.load()
            session.refuse_other(folder, study, revision, None if job else machine, arguments.allow_mixed)
            study.values["seed"] = folder.state["seed"]
            folder.adopt()
            estimate(points, folder.runs)
        elif study["seed"] == "auto":
            study.values["seed"] = random.SystemRandom().randrange(2**31)
        if arguments.retry_failed:
            folder.forgive()
        if not job:
            refuse_queued(folder)
            session.keep_plan(folder, study, points, revision, machine)
        missing = [(point, repeat) for point, repeat in run_order(points, study["repeats"], study["seed"])
                   if point in able and not folder.is_done(point.id, repeat)]
        if arguments.submit and missing:
            session.tabulate(folder)
            submit(folder, missing, study, place, template)
            return 0
        ended = session.make_all(folder, study, missing, place, arguments.allow_mixed)
        if not job:
            with contextlib.suppress(*[StudyError] * bool(ended)):  # what has ended it is told; --resume writes tables
                session.tabulate(folder)
        if ended:
            raise ended
        where = f"kontor report {shlex.quote(str(path))} shows them" if job else f"{path / 'study.csv'} has the table"
        return session.summary(folder, able, repeats, where)


def show_plan(study: Study, points: list[Point], place: Place, folder: Path) -> None:
    """Every point with its command, its time if runs of it are in the folder, and what cannot run here with the
    reason."""
    before = Folder(folder)
    with contextlib.suppress(StudyError):
        before.load()
    estimate(points, before.state.get("runs", []))
    able = [point for point in points if not point.skipped]
    for point in points:
        print(f"{point.id}  {point.words()}")
        if point.skipped:
            print(f"      cannot run here: {point.skipped}")
            continue
        base = str(folder / "runs" / f"{point.id}-r1")
        print(f"      {shown_command(point, study.decks_by_path[point.deck], place, base)}")
        told = [f"about {span(point.estimate_seconds)}"] if point.estimate_seconds is not None else []
        told += ["more ranks than cores"] if point.oversubscribed else []
        if told:
            print(f"      {'; '.join(told)}")
    times, repeats = [point.estimate_seconds for point in able if point.estimate_seconds is not None], study["repeats"]
    total = f", about {span(repeats * sum(times))}" if able and len(times) == len(able) else ""
    skipped = f", {len(points) - len(able)} of them cannot run here" if len(able) < len(points) else ""
    print(f"{counted(len(points), 'point')}{skipped}; {counted(repeats, 'repeat')}:"
          f" {counted(repeats * len(able), 'run')}{total}")
    for deck in study.decks:
        if deck.schema is None:
            say(f"study: {deck.app} is not built yet, so what the study sets in {deck.path} is not checked")
    if study["weak"] and study["kind"] != "weak":
        say(f"study: weak is not used, because kind is {study['kind']}")

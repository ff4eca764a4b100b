# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: from its arguments to its exit code."""

import argparse
import json
import os
import random
import sys
from pathlib import Path

from ..messages import say
from . import session
from .description import json_schema
from .folder import Folder
from .here import Here, Machine, describe_machine
from .jobs import find_part
from .make import Interrupted, shown_command
from .only import selector
from .part import adopt, make_part
from .plan import Point, make_plan, run_order
from .problems import StudyError
from .progress import count, span
from .study import Study, read_study
from .submit import refuse_queued, submit

DESCRIPTION = "Makes the runs of a study, resumes it, writes job scripts for it, or shows what it would do."
EPILOG = """Exit codes: 0 all runs passed, 1 a verification failed, 2 bad study or usage, 3 a run failed at run time,
128 + N ended by signal N. docs/studies.md describes studies."""


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kontor study", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("study", metavar="STUDY.yaml", nargs="?", help="the study, or the folder of a started one")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where results go (default: a folder of the study's name, here)")
    parser.add_argument("--dry-run", action="store_true", help="show every point with its command and an estimate; run nothing")
    parser.add_argument("--resume", action="store_true", help="resume the study in FOLDER: make the missing runs")
    parser.add_argument("--retry-failed", action="store_true", help="with --resume: repeat failed runs, too")
    parser.add_argument("--allow-mixed", action="store_true", help="with --resume: on another revision or machine, too")
    parser.add_argument("--only", metavar="EXPR", help='only these points: --only "ranks<=4 and comm.backend==view"')
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="override a key of the study: --set repeats=1")
    parser.add_argument("--reduced", action="store_true", help="use the small settings of the lines `# test:` in the study and its decks")
    parser.add_argument("--submit", action="store_true", help="write job scripts to FOLDER/jobs/ and submit them if a scheduler is found")
    parser.add_argument("--collect", action="store_true", help="collect the results of jobs, write the tables, run nothing")
    parser.add_argument("--print", action="store_true", help="print the study with every default filled in, and stop")
    parser.add_argument("--schema", action="store_true", help="print the JSON schema of studies, and stop")
    parser.add_argument("--part", metavar="NAME", help="used by job scripts: make the runs of this size, inside the job")
    parser.add_argument("--repeat", metavar="N", type=int, action="append", help="with --part: this repeat")
    arguments = parser.parse_args(words)
    if not arguments.study and not arguments.schema:
        studies = " ".join(f"inputs/studies/{file.name}" for file in sorted((Here().root / "inputs/studies").glob("*.yaml")))
        parser.error(f"no study given; there are {studies}")
    return arguments


def main(words: list[str]) -> int:
    """Returns the exit code."""
    try:
        return act(parse_arguments(words), Here())
    except StudyError as error:
        print(error.text(), file=sys.stderr)
        return error.code
    except Interrupted as error:
        say(f"study: interrupted by signal {error}; --resume continues it")
        return 128 + error.number


def act(arguments: argparse.Namespace, here: Here) -> int:
    if arguments.schema:
        print(json.dumps(json_schema(), indent=2))
        return 0
    if os.path.isdir(arguments.study):
        arguments.output = arguments.output or arguments.study
        arguments.study = str(Path(arguments.study) / "study.yaml")
    looks = arguments.print or arguments.dry_run or arguments.collect or arguments.part
    study = read_study(arguments.study, arguments.set, arguments.reduced, here, build=not looks)
    if arguments.print:
        print(study.resolved(), end="")
        return 0
    machine = None if arguments.submit or arguments.collect else describe_machine()
    points = make_plan(study, machine)
    chosen = selector(arguments.only, points) if arguments.only else lambda _: True
    selected = [point for point in points if chosen(point)]
    if not selected:
        raise StudyError(f"--only {arguments.only}: there is no such point; --dry-run shows all", "E-STUDY-POINT")
    path = Path(arguments.output or study["study"])
    if arguments.dry_run:
        show_plan(study, selected, here, path)
        return 0
    if arguments.part and machine:
        return make_part(study, find_part(arguments.part, selected), machine, path, arguments, here)
    return run(study, points, selected, machine, path, arguments, here)


def run(study: Study, points: list[Point], selected: list[Point], machine: Machine | None, path: Path, arguments: argparse.Namespace,
        here: Here) -> int:
    """Makes, submits or collects. Points that cannot run here are told."""
    able = [point for point in selected if not point.skipped]
    for point in selected:
        if point.skipped:
            say(f"study: {point.id} ({point.words()}) cannot run here: {point.skipped}")
    if not able:
        raise StudyError("none of the points can run here", "E-STUDY-POINT")
    resume = arguments.resume or arguments.collect
    session.refuse_foreign(path, resume)
    if machine:
        session.check_launcher(study, here)
    with Folder(path) as folder:
        revision = "" if arguments.collect else session.revision_of(study, here)
        session.refuse_foreign(path, resume)  # now that nobody else can make one
        if resume:
            folder.load()
            revision = revision or folder.state["git_revision"]
            session.refuse_other(folder, study, revision, machine, arguments.allow_mixed)
            if not arguments.collect:
                refuse_queued(folder)
            study.values["seed"] = folder.state["seed"]
        elif study["seed"] == "auto":
            study.values["seed"] = random.SystemRandom().randrange(2**31)
        session.keep_plan(folder, study, points, revision, machine)
        if adopt(folder):
            folder.save()
        if arguments.retry_failed:
            folder.forgive()
        missing = [(point, repeat) for point, repeat in run_order(points, study["repeats"], study["seed"])
                   if point in able and not folder.is_done(point.id, repeat)]
        if arguments.submit:
            submit(folder, missing, study["study"], study["launch"], here)
            return 0
        if not arguments.collect:
            session.make_all(folder, study, missing, here, arguments.allow_mixed)
        else:
            session.tabulate(folder)
        return session.summary(folder, able, list(range(1, study["repeats"] + 1)), f"{path / 'study.csv'} has the table")


def show_plan(study: Study, points: list[Point], here: Here, folder: Path) -> None:
    """Every point with its command and an estimate, and what cannot run here with the reason."""
    decks = study.decks_by_path
    for point in points:
        print(f"{point.id}  {point.words()}")
        if point.skipped:
            print(f"      cannot run here: {point.skipped}")
            continue
        more = "; more ranks than cores" if point.oversubscribed else ""
        print(f"      {shown_command(point, decks[point.deck], here, str(folder / 'runs' / f'{point.id}-r1'))}")
        print(f"      about {span(point.estimate_seconds)}: {point.estimate_basis}{more}")
    able = [point for point in points if not point.skipped]
    runs, total = study["repeats"] * len(able), study["repeats"] * sum(point.estimate_seconds for point in able)
    skipped = f", {len(points) - len(able)} of them cannot run here" if len(able) < len(points) else ""
    print(f"{count(len(points), 'point')}{skipped}; {count(study['repeats'], 'repeat')}: {count(runs, 'run')}, about {span(total)}")
    for deck in study.decks:
        if deck.schema is None:
            say(f"study: {deck.app} is not built yet, so what the study sets in {deck.path} is not checked")
    if study["weak"] and study["kind"] != "weak":
        say(f"study: weak is not used, because kind is {study['kind']}")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inside a job: the runs of one size. Several jobs may do this at once, so each run's entry is a file of its own."""

import argparse
import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import session
from .adopt import ENTRY, adopt
from .folder import Folder
from .here import Here, Machine
from .plan import Point, run_order
from .problems import StudyError
from .progress import count, say
from .study import Study


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
        raise StudyError(f"--repeat {wrong[0]}: the study has repeats 1 to {study['repeats']}")
    for point in points:
        if point.skipped:
            raise StudyError(f"{point.id} ({point.words()}) cannot run in this job: {point.skipped}")
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

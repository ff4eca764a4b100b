# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Job scripts: written, submitted where the scheduler's command is here, and remembered by the study's state.

A script is to be read and edited: the directives for the scheduler are at its top, and below them one command, which
makes the runs by `kontor study --part` inside the job. Where a size has several repeats, it is an array job of one
task a repeat: each may wait, run and fail by itself.
"""

import math
import os
import shlex
import shutil
import subprocess
import textwrap
from pathlib import Path
from typing import Any

from kontor.report.text import counted

from ..messages import say
from ..place import Place
from .folder import Folder
from .plan import Point
from .problems import StudyError, shown
from .progress import now
from .schedulers import SCHEDULERS, scheduler_here
from .sizes import Part, listed, parts_of
from .study import Study

KEPT = ("KONTOR_BUILD_DIR", "KONTOR_PRESET", "KONTOR_PYTHON", "KONTOR_LAUNCHER")  # of the environment, for the job
MOST_COMMENTS = 40  # points that a script names


def script(part: Part, study: str, name: str, launch: dict[str, Any], folder: Path, place: Place) -> str:
    """The text of the part's job script for the scheduler `name`."""
    scheduler, folder = SCHEDULERS[name], folder.absolute()
    array = launch["array"] and len(part.repeats) > 1 and bool(scheduler.variable)
    if unfit := scheduler.unfit(str(folder)):
        raise StudyError(f"{shown(folder, 200)}: job scripts of {name} cannot name a folder with {unfit};"
                         " -o names another folder", "E-STUDY-FOLDER")
    directives = scheduler.directives(part, f"{study}-{part.name}", array, launch, folder) + launch["options"]
    tasks = f"{'array tasks' if array else 'repeats'} {listed(part.repeats)}{', a repeat each' if array else ''}"
    comment = (f"{study}: {part.words()}; {tasks}. Made by kontor study --submit; edit it as you like, then submit it"
               " again or by hand.")
    if part.task_seconds is not None:
        seconds = math.ceil(part.task_seconds * (1 if array else len(part.repeats)))
        comment += f" A task takes about {seconds} s by estimate."
    repeats = [f'"${{{scheduler.variable}}}"'] if array else list(map(str, part.repeats))
    command = f"exec {shlex.quote(str(place.kontor))} study {shlex.quote(str(folder))} --part {part.name}"
    more = len(part.points) - MOST_COMMENTS
    return "\n".join([
        "#!/bin/bash", *textwrap.wrap(comment, 100, initial_indent="# ", subsequent_indent="# "),
        *(f"{scheduler.prefix} {directive}" for directive in directives), "",
        *(f"# {point.id}: {shown(point.words(), 200)}" for point in part.points[:MOST_COMMENTS]),
        *([f"# and {more} more"] if more > 0 else []), "", *launch["setup"],
        *(f"export {name}={shlex.quote(os.environ[name])}" for name in KEPT if os.environ.get(name)),
        f"cd {shlex.quote(str(Path.cwd()))} || exit 2",
        command + "".join(f" --repeat {repeat}" for repeat in repeats), ""])


def submit(folder: Folder, missing: list[tuple[Point, int]], study: Study, place: Place) -> None:
    """Raises StudyError if the scheduler refuses a job; those before it stay."""
    name = scheduler_here(study["launch"]["scheduler"])
    command, launch = SCHEDULERS[name].submit, {"timeout": study["timeout"], **study["launch"]}
    try:
        (folder.path / "jobs").mkdir(exist_ok=True)
    except OSError as error:
        raise StudyError(f"{folder.path / 'jobs'} cannot be made: {error.strerror}", "E-STUDY-SUBMIT", 3) from error
    parts = {f"jobs/{part.name}.{SCHEDULERS[name].suffix}": part for part in parts_of(missing)}
    for file, part in parts.items():
        folder.write(file, script(part, study["study"], name, launch, folder.path, place))
        (folder.path / file).chmod(0o755)
        print(f"{folder.path / file}: {part.words()}, {counted(len(part.repeats), 'repeat')}")
    collect = f"kontor study {shlex.quote(str(folder.path))} --collect"
    if not shutil.which(command[0]):
        say(f"study: {command[0]} is not here; submit the scripts where it is, then collect: {collect}")
        return
    for file, part in parts.items():
        job = {"id": hand_over(folder.path / file, command), "part": part.name, "script": file, "scheduler": name,
               "repeats": part.repeats, "submitted": now()}
        print(f"{job['id']}: {file}")
        folder.state.setdefault("jobs", []).append(job)
        folder.save()
    say(f"study: {counted(len(parts), 'job')} submitted; after their end: {collect}")


def hand_over(file: Path, command: list[str]) -> str:
    """The id of the job."""
    done = subprocess.run([*command, str(file.absolute())], capture_output=True, text=True, check=False)
    words = done.stdout.split()
    if done.returncode != 0 or not words:
        said = " ".join(done.stderr.split())[:400]
        raise StudyError(f"{' '.join(command)} {file} failed with exit code {done.returncode}: {said}",
                         "E-STUDY-SUBMIT", code=3)
    return words[-1].split(";")[0]


def refuse_queued(folder: Folder) -> None:
    """Jobs are not seen where the scheduler's command is not here, or does not know them."""
    active = []
    for job in folder.state.get("jobs", []):
        words = [*SCHEDULERS[job["scheduler"]].queued, job["id"]]
        if shutil.which(words[0]):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            active += [job["id"]] if done.returncode == 0 and done.stdout.strip() else []
    if active:
        raise StudyError(f"{folder.path}: jobs of this study wait or run: {', '.join(active)}; wait for them or cancel"
                         " them, then --resume", "E-STUDY-SUBMIT")

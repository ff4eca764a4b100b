# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Job scripts: written, submitted where the scheduler's command is here, and remembered by the study's state.

A script is to be read and edited. Its last command makes the runs by `kontor study --job` inside the job. What is
above is for Slurm or Flux, or the user's own, from a template for any scheduler.
"""

import os
import re
import shlex
import shutil
import subprocess
import textwrap
from pathlib import Path

from kontor.report.text import counted

from ..messages import say
from ..place import Place
from .folder import Folder
from .jobs import Job, Missing, clock, jobs_of
from .problems import Problems, StudyError, nearest, shown
from .progress import now
from .schedulers import SCHEDULERS, scheduler_here
from .study import Study

KEPT = ("KONTOR_BUILD_DIR", "KONTOR_PRESET", "KONTOR_PYTHON", "KONTOR_LAUNCHER")  # of the environment, for the job
MOST_COMMENTS = 40  # points that a script names
WORD = re.compile(r"(?<!\$)\{([A-Za-z_]+)\}")  # of a template; ${NAME} is the shell's
WORDS = ("name", "nodes", "ranks", "ranks_per_node", "threads", "gpus", "gpus_per_node", "time", "minutes", "command")


def commands(job: Job, study: Study, folder: Path, place: Place) -> list[str]:
    """The lines of a script that make the job's runs."""
    several = study["launch"]["jobs"] != "study"
    only = f" --only {shlex.quote(f'point in [{chr(44).join(point.id for point in job.points)}]')}" if several else ""
    return [
        *study["launch"]["setup"],
        *(f"export {name}={shlex.quote(os.environ[name])}" for name in KEPT if os.environ.get(name)),
        f"cd {shlex.quote(str(Path.cwd()))} || exit 2",
        f"exec {shlex.quote(str(place.kontor))} study {shlex.quote(str(folder.absolute()))} --job{only}"]


def script(job: Job, study: Study, name: str, folder: Path, place: Place) -> str:
    """The text of the job's script for the scheduler `name`."""
    scheduler, launch, folder = SCHEDULERS[name], study["launch"], folder.absolute()
    if unfit := scheduler.unfit(str(folder)):
        raise StudyError(f"{shown(folder, 200)}: job scripts of {name} cannot name a folder with {unfit};"
                         " -o names another folder", "E-STUDY-FOLDER")
    seconds = job.seconds(launch, study["timeout"])
    directives = scheduler.directives(job, f"{study['study']}-{job.name}", seconds, launch, folder) + launch["options"]
    comment = (f"{study['study']}: {job.words()}. Made by kontor study --submit; edit it as you like, then submit it"
               " again or by hand.")
    more = len(job.points) - MOST_COMMENTS
    return "\n".join([
        "#!/bin/bash", *textwrap.wrap(comment, 100, initial_indent="# ", subsequent_indent="# "),
        *(f"{scheduler.prefix} {directive}" for directive in directives), "",
        *(f"# {point.id}: {shown(point.words(), 200)}" for point in job.points[:MOST_COMMENTS]),
        *([f"# and {more} more"] if more > 0 else []), "", *commands(job, study, folder, place), ""])


def read_template(file: str) -> str:
    """Raises StudyError where it cannot be read, names what is unknown, or lacks the command."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise StudyError(f"{file}: cannot read the job template: {why}", "E-FILE-READ") from error
    problems = Problems()
    for number, line in enumerate(text.split("\n"), 1):
        for found in WORD.finditer(line):
            if found[1] not in WORDS:
                problems.add(f"{file}:{number}:{found.start() + 1}",
                             f"{found[0]} is not known in a job template{nearest(found[1], WORDS)}")
    if "{command}" not in text:
        problems.add(f"{file}:1:1", "a job template has a line {command}, which makes the runs; found none")
    problems.raise_any()
    return text


def filled(template: str, job: Job, study: Study, folder: Path, place: Place) -> str:
    """The text of the job's script for a scheduler that the template knows."""
    one, seconds = job.largest, job.seconds(study["launch"], study["timeout"])
    command = "\n".join([f"export KONTOR_NODES={one.nodes}", *commands(job, study, folder, place)])
    values = (f"{study['study']}-{job.name}", one.nodes, one.ranks, job.ranks_per_node, one.threads, job.gpus,
              -(-job.gpus // one.nodes), clock(seconds), -(-seconds // 60), command)
    by_word = dict(zip(WORDS, map(str, values)))
    return WORD.sub(lambda found: by_word[found[1]], template)


def submit(folder: Folder, missing: Missing, study: Study, place: Place, template: str) -> None:
    """Raises StudyError if the scheduler refuses a job; those before it stay."""
    name = scheduler_here(study["launch"]["scheduler"])
    command, suffix = SCHEDULERS[name].submit, "sh" if template else SCHEDULERS[name].suffix
    try:
        (folder.path / "jobs").mkdir(exist_ok=True)
    except OSError as error:
        raise StudyError(f"{folder.path / 'jobs'} cannot be made: {error.strerror}", "E-STUDY-SUBMIT", 3) from error
    jobs = {f"jobs/{job.name}.{suffix}": job for job in jobs_of(missing, study["launch"]["jobs"])}
    for file, job in jobs.items():
        folder.write(file, filled(template, job, study, folder.path, place) if template
                     else script(job, study, name, folder.path, place))
        (folder.path / file).chmod(0o755)
        print(f"{folder.path / file}: {job.words()}")
    report = f"kontor report {shlex.quote(str(folder.path))}"
    if template or not shutil.which(command[0]):
        why = "submit the scripts" if template else f"{command[0]} is not here; submit the scripts where it is"
        say(f"study: {why}; then {report}")
        return
    for file, job in jobs.items():
        entry = {"id": hand_over(folder.path / file, command), "name": job.name, "script": file, "scheduler": name,
                 "submitted": now()}
        print(f"{entry['id']}: {file}")
        folder.state.setdefault("jobs", []).append(entry)
        folder.save()
    say(f"study: {counted(len(jobs), 'job')} submitted; after their end: {report}")


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

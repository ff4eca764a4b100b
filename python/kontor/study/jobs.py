# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Job scripts: which of the missing runs share one, what it says, and handing it to the scheduler.

A script is to be read and edited. Its last command makes the runs by `kontor study --job` inside the job. What is
above is for Slurm or Flux, or the user's own, from a template for any scheduler.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kontor.report.text import counted, grouped, printable

from ..messages import Failure, say, with_id
from ..place import Place, nearest
from .folder import Folder
from .make import now
from .plan import Point
from .study import Study, refuse

Missing = list[tuple[Point, int]]  # points and repeats
KEPT = ("KONTOR_BUILD_DIR", "KONTOR_PRESET", "KONTOR_PYTHON", "KONTOR_LAUNCHER")  # of the environment, for the job
# By scheduler: the prefix of a directive, the command that submits, and the one that lists a job that waits or runs.
SCHEDULERS = {
    "slurm": ("#SBATCH", ["sbatch", "--parsable"], ["squeue", "-h", "-o", "%i", "-j"]),
    "flux": ("#flux:", ["flux", "batch"], ["flux", "jobs", "--filter=pending,running", "-no", "{id}"]),
}
WORD = re.compile(r"(?<!\$)\{([A-Za-z_]+)\}")  # of a template; ${NAME} is the shell's
WORDS = ("name", "nodes", "ranks", "ranks_per_node", "threads", "gpus", "gpus_per_node", "time", "minutes", "command")


def _size(point: Point) -> str:
    shown = (("n", point.nodes, point.ranks_per_node), ("r", point.ranks, True),
             ("t", point.threads, point.threads > 1), ("g", point.gpus, point.gpus))
    return "-".join(f"{letter}{number}" for letter, number, is_shown in shown if is_shown)


# By launch.jobs, the name of a point's job, such as p003, n2-r8 or all.
NAMES: dict[str, Callable[[Point], str]] = {"point": lambda point: point.id, "size": _size, "study": lambda _: "all"}


@dataclass
class Job:
    name: str
    points: list[Point]
    runs: Missing
    study: Study

    @property
    def largest(self) -> Point:
        """The point that needs most."""
        return max(self.points, key=lambda point: (point.nodes, point.ranks * point.threads))

    @property
    def gpus(self) -> int:
        return max(point.gpus for point in self.points)

    @property
    def ranks_per_node(self) -> int:
        return min(self.largest.ranks, self.largest.ranks_per_node or self.largest.ranks)

    def words(self) -> str:
        one = self.largest
        nodes = f"{counted(one.nodes, 'node')}, " if one.ranks_per_node else ""
        return (f"{counted(len(self.runs), 'run')} of {counted(len(self.points), 'point')} on {nodes}"
                f"{counted(one.ranks, 'rank')}{f' of {one.threads} threads' if one.threads > 1 else ''}"
                f"{f', {self.gpus} GPUs' if self.gpus else ''}")

    def commands(self, folder: Path, place: Place) -> list[str]:
        """The lines of the script that make the runs."""
        only = [f"--only=point={point.id}" for point in self.points] if self.study["launch.jobs"] != "study" else []
        return [
            *self.study["launch.setup"],
            *(f"export {name}={shlex.quote(os.environ[name])}" for name in KEPT if os.environ.get(name)),
            f"cd {shlex.quote(str(Path.cwd()))} || exit 2",
            f"exec {shlex.join([str(place.kontor), 'study', str(folder.absolute()), '--job', *only])}"]


def jobs_of(missing: Missing, study: Study) -> list[Job]:
    """The smallest first, so that the queue has something early."""
    in_order = sorted(missing, key=lambda item: (item[0].nodes, item[0].ranks, item[0].threads, item[0].id))
    name = NAMES[study["launch.jobs"]]
    return [Job(of, list({point.id: point for point, _ in runs}.values()), runs, study)
            for of, runs in grouped(in_order, lambda item: name(item[0])).items()]


def slurm(job: Job, folder: Path) -> list[str]:
    """Its directives. sbatch expands % in all of a path, and takes the character after a backslash as it is."""
    one, study = job.largest, job.study
    output = f"{folder}/jobs/".replace("%", "%%") + f"{job.name}-%j.out"
    told = [f"--job-name={study['study']}-{job.name}", '"--output=' + output.replace('"', '\\"') + '"']
    if one.ranks_per_node:
        told += [f"--nodes={one.nodes}", f"--ntasks-per-node={job.ranks_per_node}"]
    told += [f"--ntasks={one.ranks}", f"--cpus-per-task={one.threads}"]
    if job.gpus:
        told.append(f"--gpus-per-node={-(-job.gpus // one.nodes)}" if one.ranks_per_node else f"--gpus={job.gpus}")
    told += ["--exclusive"] * study["launch.exclusive"]
    return [*told, f"--time={study['launch.minutes']}", f"--signal=B:TERM@{study['launch.warn']}"]


def flux(job: Job) -> list[str]:
    """Output is beside the script, which is submitted there."""
    one, study = job.largest, job.study
    told = [f"--job-name={study['study']}-{job.name}", f"--output={job.name}-{{{{id}}}}.out"]
    told += [f"--nodes={one.nodes}"] if one.ranks_per_node else []
    told += [f"--nslots={one.ranks}", f"--cores-per-slot={one.threads}"]
    told += [f"--gpus-per-slot={-(-job.gpus // one.ranks)}"] if job.gpus else []
    told += ["--exclusive"] if study["launch.exclusive"] and one.ranks_per_node else []
    return [*told, f"--time-limit={study['launch.minutes']}m", f"--signal=TERM@{study['launch.warn']}s"]


def script(job: Job, scheduler: str, folder: Path, place: Place) -> str:
    """The text of the job's script for a scheduler that is known."""
    folder = folder.absolute()
    if not str(folder).isprintable() or "\\" in str(folder):
        raise Failure(f"{printable(str(folder))}: job scripts cannot name a folder with line breaks, control characters"
                      " or backslashes; -o names another folder", error_id="E-STUDY-FOLDER")
    directives = slurm(job, folder) if scheduler == "slurm" else flux(job)
    return "\n".join([
        "#!/bin/bash", f"# {job.study['study']}: {job.words()}. Made by kontor study --submit; edit it as you like.",
        *(f"{SCHEDULERS[scheduler][0]} {line}" for line in [*directives, *job.study["launch.options"]]), "",
        *(f"# {point.id}: {printable(point.words())}" for point in job.points), "",
        *job.commands(folder, place), ""])


def read_template(file: str) -> str:
    """Ends the command where it cannot be read, names what is unknown, or lacks the command."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise Failure(f"{file}: cannot read the job template: {why}", error_id="E-FILE-READ") from error
    wrong = [f"{file}:{number}:{found.start() + 1}: {found[0]} is not known in a job template{nearest(found[1], WORDS)}"
             for number, line in enumerate(text.split("\n"), 1) for found in WORD.finditer(line)
             if found[1] not in WORDS]
    if "{command}" not in text:
        wrong.append(f"{file}:1:1: a job template has a line {{command}}, which makes the runs; found none")
    refuse([with_id(each, "E-STUDY-SUBMIT") for each in wrong])
    return text


def filled(template: str, job: Job, folder: Path, place: Place) -> str:
    """The text of the job's script for a scheduler that the template knows."""
    one, minutes = job.largest, job.study["launch.minutes"]
    command = "\n".join([f"export KONTOR_NODES={one.nodes}", *job.commands(folder, place)])
    values: tuple[Any, ...] = (f"{job.study['study']}-{job.name}", one.nodes, one.ranks, job.ranks_per_node,
                               one.threads, job.gpus, -(-job.gpus // one.nodes),
                               f"{minutes // 60:02d}:{minutes % 60:02d}:00", minutes, command)
    by_word = dict(zip(WORDS, map(str, values)))
    return WORD.sub(lambda found: by_word[found[1]], template)


def scheduler_here(wanted: str) -> str:
    """That of the study, or the one whose command is found; Slurm's where none is."""
    found = (name for name, (_, command, _) in SCHEDULERS.items() if shutil.which(command[0]))
    return next(found, "slurm") if wanted == "auto" else wanted


def submit(folder: Folder, missing: Missing, study: Study, place: Place, template: str) -> None:
    """Fails if the scheduler refuses a job; those before it stay."""
    name = scheduler_here(study["launch.scheduler"])
    command = SCHEDULERS[name][1]
    (folder.path / "jobs").mkdir(exist_ok=True)
    jobs = {f"jobs/{job.name}.{'sh' if template else name}": job for job in jobs_of(missing, study)}
    for file, job in jobs.items():
        folder.write(file, filled(template, job, folder.path, place) if template
                     else script(job, name, folder.path, place))
        (folder.path / file).chmod(0o755)
        print(f"{folder.path / file}: {job.words()}")
    report = f"kontor report {shlex.quote(str(folder.path))}"
    if template or not shutil.which(command[0]):
        why = "submit the scripts" if template else f"{command[0]} is not here; submit the scripts where it is"
        say(f"study: {why}; then {report}")
        return
    folder.share()
    for file, job in jobs.items():
        entry = {"id": hand_over(folder.path / file, command), "name": job.name, "script": file, "scheduler": name,
                 "submitted": now()}
        print(f"{entry['id']}: {file}")
        folder.state["jobs"].append(entry)
        folder.save()
    say(f"study: {counted(len(jobs), 'job')} submitted; after their end: {report}")


def hand_over(file: Path, command: list[str]) -> str:
    """The id of the job."""
    done = subprocess.run([*command, file.name], cwd=file.parent, capture_output=True, text=True, check=False)
    words = done.stdout.split()
    if done.returncode != 0 or not words:
        said = " ".join(done.stderr.split())[:400]
        raise Failure(f"{' '.join(command)} {file} failed with exit code {done.returncode}: {said}", 3,
                      "E-STUDY-SUBMIT")
    return words[-1].split(";")[0]


def refuse_queued(folder: Folder) -> None:
    """Jobs are not seen where the scheduler's command is not here, or does not know them."""
    active = []
    for job in folder.state.get("jobs", []):
        words = [*SCHEDULERS[job["scheduler"]][2], job["id"]]
        if shutil.which(words[0]):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            active += [job["id"]] if done.returncode == 0 and done.stdout.strip() else []
    if active:
        raise Failure(f"{folder.path}: jobs of this study wait or run: {', '.join(active)}; wait for them or cancel"
                      " them, then --resume", error_id="E-STUDY-SUBMIT")

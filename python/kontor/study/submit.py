# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Job scripts are written, submitted where the scheduler's command is here, and remembered by the study's state."""

import shlex
import shutil
import subprocess
from typing import Any

from ..messages import say
from .folder import Folder
from .here import Here
from .jobs import Part, parts_of, script
from .plan import Point
from .problems import StudyError
from .progress import count, now

SUBMIT = {"slurm": ["sbatch", "--parsable"], "flux": ["flux", "batch"], "pbs": ["qsub"]}
SUFFIX = {"slurm": "sbatch", "flux": "flux", "pbs": "pbs"}


def scheduler_here(wanted: str) -> str:
    """That of the study, or the one whose command is found; Slurm's where none is."""
    if wanted != "auto":
        return wanted
    return next((name for name, words in SUBMIT.items() if shutil.which(words[0])), "slurm")


def submit(folder: Folder, missing: list[tuple[Point, int]], study: str, launch: dict[str, Any], here: Here) -> None:
    """Raises StudyError if the scheduler refuses a job; those before it stay."""
    scheduler = scheduler_here(launch["scheduler"])
    command = SUBMIT[scheduler]
    try:
        (folder.path / "jobs").mkdir(exist_ok=True)
    except OSError as error:
        raise StudyError(f"{folder.path / 'jobs'} cannot be made: {error.strerror}", "E-STUDY-SUBMIT", code=3) from error
    parts = parts_of(missing)
    files = []
    for part in parts:
        name = f"jobs/{part.name}.{SUFFIX[scheduler]}"
        folder.write(name, script(part, study, scheduler, launch, folder.path, here))
        (folder.path / name).chmod(0o755)
        files.append(name)
        print(f"{folder.path / name}: {part.words()}, {count(len(part.repeats), 'repeat')}")
    if not shutil.which(command[0]):
        say(f"study: {command[0]} is not here; submit the scripts where it is, then collect: kontor study {shlex.quote(str(folder.path))} --collect")
        return
    for part, name in zip(parts, files):
        folder.state.setdefault("jobs", []).append(hand_over(folder, part, name, scheduler, command))
        folder.save()
    say(f"study: {count(len(parts), 'job')} submitted; after their end: kontor study {shlex.quote(str(folder.path))} --collect")


def hand_over(folder: Folder, part: Part, name: str, scheduler: str, command: list[str]) -> dict[str, Any]:
    done = subprocess.run([*command, str((folder.path / name).absolute())], capture_output=True, text=True, check=False)
    words = done.stdout.split()
    if done.returncode != 0 or not words:
        said = " ".join(done.stderr.split())[:400]
        raise StudyError(f"{' '.join(command)} {folder.path / name} failed with exit code {done.returncode}: {said}", "E-STUDY-SUBMIT", code=3)
    number = words[-1].split(";")[0]
    print(f"{number}: {name}")
    return {"id": number, "part": part.name, "script": name, "scheduler": scheduler, "repeats": part.repeats,
            "submitted": now()}


def still_queued(folder: Folder) -> list[str]:
    """The study's jobs that wait or run; empty where the scheduler's command is not here, or does not know them."""
    active = []
    for job in folder.state.get("jobs", []):
        words = {"slurm": ["squeue", "-h", "-o", "%i", "-j", job["id"]],
                 "flux": ["flux", "jobs", "--filter=pending,running", "-no", "{id}", job["id"]],
                 "pbs": ["qstat", job["id"]]}[job["scheduler"]]
        if not shutil.which(words[0]):
            continue
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip():
            active.append(job["id"])
    return active


def refuse_queued(folder: Folder) -> None:
    if active := still_queued(folder):
        raise StudyError(f"{folder.path}: jobs of this study wait or run: {', '.join(active)}; wait for them or cancel them, then --resume", "E-STUDY-SUBMIT")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What differs between schedulers: the directives of a job script, and the commands that submit and list jobs."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from .jobs import Job, clock

PLAIN = r"[\w%@=:.,/+-]+"  # what needs no quotes
Launch = dict[str, Any]


class Scheduler:
    prefix: str  # of a directive
    suffix: str  # of scripts
    submit: list[str]
    queued: list[str]  # lists the job whose id follows if it waits or runs
    options: dict[str, str] = {}  # of the keys of launch that are texts

    def unfit(self, path: str) -> str:
        """What in a path a directive cannot say, in words; empty if it can say all."""
        return "" if path.isprintable() else "line breaks or control characters"

    def directives(self, job: Job, name: str, seconds: int, launch: Launch, folder: Path) -> list[str]:
        raise NotImplementedError

    def texts(self, launch: Launch) -> list[str]:
        return [f"{option}={launch[key]}" for key, option in self.options.items() if launch[key]]


class Slurm(Scheduler):
    prefix, suffix = "#SBATCH", "sbatch"
    submit, queued = ["sbatch", "--parsable"], ["squeue", "-h", "-o", "%i", "-j"]
    options = {key: f"--{key}" for key in ("partition", "account", "qos", "constraint", "reservation")}

    def unfit(self, path: str) -> str:
        return super().unfit(path) or ("a backslash" if "\\" in path else "")  # it switches the pattern off

    def directives(self, job: Job, name: str, seconds: int, launch: Launch, folder: Path) -> list[str]:
        one, gpus = job.largest, job.gpus
        output = f"{str(folder).replace('%', '%%')}/jobs/{job.name}-%j.out"
        told = [f"--job-name={name}", f"--output={output}"]
        if one.ranks_per_node:
            told += [f"--nodes={one.nodes}", f"--ntasks-per-node={job.ranks_per_node}"]
        told += [f"--ntasks={one.ranks}", f"--cpus-per-task={one.threads}"]
        if gpus:
            told.append(f"--gpus-per-node={-(-gpus // one.nodes)}" if one.ranks_per_node else f"--gpus={gpus}")
        told += ["--exclusive"] * launch["exclusive"]
        told += [f"--time={clock(seconds)}", f"--signal=B:TERM@{launch['warn']}", *self.texts(launch)]
        return list(map(self._word, told))

    @staticmethod
    def _word(text: str) -> str:
        """As sbatch reads words: a backslash takes the next character as it is, blanks are between quotes."""
        return text if re.fullmatch(PLAIN, text) else '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


class Flux(Scheduler):
    prefix, suffix = "#flux:", "flux"
    submit, queued = ["flux", "batch"], ["flux", "jobs", "--filter=pending,running", "-no", "{id}"]
    options = {"partition": "--queue", "account": "--bank"}

    def unfit(self, path: str) -> str:
        return super().unfit(path) or ("{{" if "{{" in path else "")

    def directives(self, job: Job, name: str, seconds: int, launch: Launch, folder: Path) -> list[str]:
        one, gpus = job.largest, job.gpus
        told = [f"--job-name={name}", f"--output={folder}/jobs/{job.name}-{{{{id}}}}.out"]
        told += [f"--nodes={one.nodes}"] if one.ranks_per_node else []
        told += [f"--nslots={one.ranks}", f"--cores-per-slot={one.threads}"]
        told += [f"--gpus-per-slot={-(-gpus // one.ranks)}"] if gpus else []
        told += ["--exclusive"] if launch["exclusive"] and one.ranks_per_node else []
        told += [f"--time-limit={seconds}s", f"--signal=TERM@{launch['warn']}s", *self.texts(launch)]
        return list(map(shlex.quote, told))


SCHEDULERS: dict[str, Scheduler] = {"slurm": Slurm(), "flux": Flux()}


def scheduler_here(wanted: str) -> str:
    """That of the study, or the one whose command is found; Slurm's where none is."""
    found = (name for name, scheduler in SCHEDULERS.items() if shutil.which(scheduler.submit[0]))
    return next(found, "slurm") if wanted == "auto" else wanted

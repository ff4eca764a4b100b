# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What differs between schedulers: the directives of a job script, and the commands that submit and list jobs."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from .sizes import Part, listed, seconds_of

PLAIN = r"[\w%@=:.,/+-]+"  # what needs no quotes
Launch = dict[str, Any]


class Scheduler:
    prefix: str  # of a directive
    suffix: str  # of scripts
    submit: list[str]
    queued: list[str]  # lists the job whose id follows if it waits or runs
    variable = ""  # the task of an array; empty where there are no arrays
    options: dict[str, str] = {}  # of the keys of launch that are texts

    def unfit(self, path: str) -> str:
        """What in a path a directive cannot say, in words; empty if it can say all."""
        return "" if path.isprintable() else "line breaks or control characters"

    def directives(self, part: Part, name: str, array: bool, launch: Launch, folder: Path) -> list[str]:
        raise NotImplementedError

    def texts(self, launch: Launch) -> list[str]:
        return [f"{option}={launch[key]}" for key, option in self.options.items() if launch[key]]


class Slurm(Scheduler):
    prefix, suffix, variable = "#SBATCH", "sbatch", "SLURM_ARRAY_TASK_ID"
    submit, queued = ["sbatch", "--parsable"], ["squeue", "-h", "-o", "%i", "-j"]
    options = {key: f"--{key}" for key in ("partition", "account", "qos", "constraint", "reservation")}

    def unfit(self, path: str) -> str:
        return super().unfit(path) or ("a backslash" if "\\" in path else "")  # it switches the pattern off

    def directives(self, part: Part, name: str, array: bool, launch: Launch, folder: Path) -> list[str]:
        one, per_node = part.first, part.first.ranks_per_node
        output = f"{str(folder).replace('%', '%%')}/jobs/{part.name}-%{'A_%a' if array else 'j'}.out"
        told = [f"--job-name={name}", f"--output={output}"]
        if per_node:
            told += [f"--nodes={one.nodes}", f"--ntasks-per-node={min(one.ranks, per_node)}"]
        told += [f"--ntasks={one.ranks}", f"--cpus-per-task={one.threads}"]
        if one.gpus:
            told.append(f"--gpus-per-node={-(-one.gpus // one.nodes)}" if per_node else f"--gpus={one.gpus}")
        told += ["--exclusive"] * launch["exclusive"]
        told += [f"--time={part.time_limit(array, launch)}", f"--signal=B:TERM@{launch['warn']}", *self.texts(launch)]
        told += [f"--array={listed(part.repeats)}%{launch['at_once']}"] * array
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

    def directives(self, part: Part, name: str, array: bool, launch: Launch, folder: Path) -> list[str]:
        one, per_node = part.first, part.first.ranks_per_node
        told = [f"--job-name={name}", f"--output={folder}/jobs/{part.name}-{{{{id}}}}.out"]
        told += [f"--nodes={one.nodes}"] if per_node else []
        told += [f"--nslots={one.ranks}", f"--cores-per-slot={one.threads}"]
        told += [f"--gpus-per-slot={-(-one.gpus // one.ranks)}"] if one.gpus else []
        told += ["--exclusive"] if launch["exclusive"] and per_node else []
        seconds = seconds_of(part.time_limit(array, launch))
        told += [f"--time-limit={seconds}s", f"--signal=TERM@{launch['warn']}s", *self.texts(launch)]
        return list(map(shlex.quote, told))


SCHEDULERS: dict[str, Scheduler] = {"slurm": Slurm(), "flux": Flux()}


def scheduler_here(wanted: str) -> str:
    """That of the study, or the one whose command is found; Slurm's where none is."""
    found = (name for name, scheduler in SCHEDULERS.items() if shutil.which(scheduler.submit[0]))
    return next(found, "slurm") if wanted == "auto" else wanted

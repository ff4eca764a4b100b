# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Job scripts: the runs of one size (nodes, ranks, threads, GPUs) share a job, or an array job of one task a repeat.

A script is to be read and edited: what the scheduler is told stands at its top, and below it one command, which makes the
runs by `kontor study --part` inside the job.
"""

import math
import os
import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kontor.report.text import grouped

from .here import Here
from .plan import Point
from .problems import StudyError, shown
from .progress import count

KEPT = ("KONTOR_BUILD_DIR", "KONTOR_PRESET", "KONTOR_PYTHON", "KONTOR_LAUNCHER")  # of the environment, for the job
PLAIN = r"[\w%@=:.,/+-]+"  # what needs no quotes


@dataclass
class Part:
    """The runs of a size."""

    name: str  # n2-r8
    points: list[Point]
    repeats: list[int]  # that are missing

    @property
    def first(self) -> Point:
        return self.points[0]

    @property
    def task_seconds(self) -> float:
        """An estimate for one repeat."""
        return sum(point.estimate_seconds for point in self.points)

    def words(self) -> str:
        one = self.first
        nodes = f"{count(one.nodes, 'node')}, " if one.ranks_per_node else ""
        return (f"{count(len(self.points), 'point')} on {nodes}{count(one.ranks, 'rank')}"
                f"{f' of {one.threads} threads' if one.threads > 1 else ''}{f', {one.gpus} GPUs' if one.gpus else ''}")


def part_name(point: Point) -> str:
    return (f"n{point.nodes}-" if point.ranks_per_node else "") + f"r{point.ranks}" + (
        f"-t{point.threads}" if point.threads > 1 else "") + (f"-g{point.gpus}" if point.gpus else "")


def parts_of(missing: list[tuple[Point, int]]) -> list[Part]:
    """The smallest first, so that the queue has something early."""
    in_order = sorted(missing, key=lambda item: (item[0].nodes, item[0].ranks, item[0].threads, item[0].id))
    return [Part(name, list({point.id: point for point, _ in runs}.values()), sorted({repeat for _, repeat in runs}))
            for name, runs in grouped(in_order, lambda item: part_name(item[0])).items()]


def is_array(part: Part, scheduler: str, launch: dict[str, Any]) -> bool:
    """An array pays where there are several repeats: each may wait, run and fail by itself."""
    if not launch["array"] or len(part.repeats) < 2 or scheduler == "flux":
        return False
    return scheduler == "slurm" or part.repeats[-1] - part.repeats[0] + 1 == len(part.repeats)  # PBS has no lists


def time_limit(part: Part, array: bool, launch: dict[str, Any]) -> str:
    """As HH:MM:SS, unless the study says it in another way."""
    if launch["time"] != "auto":
        return str(launch["time"])
    seconds = 2 * part.task_seconds * (1 if array else len(part.repeats)) + launch["warn"]
    minutes = max(10, 5 * math.ceil(seconds / 300))
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def script(part: Part, study: str, scheduler: str, launch: dict[str, Any], folder: Path, here: Here) -> str:
    """The text of the part's job script."""
    array = is_array(part, scheduler, launch)
    if unfit := unfit_for(scheduler, str(folder.absolute())):
        raise StudyError(f"{shown(folder.absolute(), 200)}: job scripts of {scheduler} cannot name a folder with {unfit}; -o names another folder", "E-STUDY-FOLDER")
    directives, variable = SCHEDULERS[scheduler](part, f"{study}-{part.name}", array, launch, folder.absolute())
    directives += launch["options"]
    prefix = {"slurm": "#SBATCH", "flux": "#flux:", "pbs": "#PBS"}[scheduler]
    tasks = f"array tasks {listed(part.repeats)}, a repeat each" if array else f"repeats {listed(part.repeats)}"
    comment = (f"{study}: {part.words()}; {tasks}. Made by kontor study --submit; edit it as you like, then submit it again or by hand. "
               f"A task takes about {math.ceil(part.task_seconds * (1 if array else len(part.repeats)))} s by estimate.")
    if array:
        repeat = f' --repeat "${{{variable}}}"'
    else:
        repeat = "".join(f" --repeat {number}" for number in part.repeats)
    lines = ["#!/bin/bash", *textwrap.wrap(comment, 100, initial_indent="# ", subsequent_indent="# "),
             *(f"{prefix} {directive}" for directive in directives), ""]
    lines += [f"# {point.id}: {shown(point.words(), 200)}" for point in part.points[:40]]
    lines += [f"# and {len(part.points) - 40} more"] if len(part.points) > 40 else []
    lines += ["", *launch["setup"], *(f"export {name}={shlex.quote(os.environ[name])}" for name in KEPT if os.environ.get(name)),
              f"cd {shlex.quote(str(Path.cwd()))} || exit 2",
              f"exec {shlex.quote(here.kontor)} study {shlex.quote(str(folder.absolute()))} --part {part.name}{repeat}", ""]
    return "\n".join(lines)


def unfit_for(scheduler: str, path: str) -> str:
    """What in a path a directive of the scheduler cannot say, in words; empty if it can say all."""
    if not path.isprintable():
        return "line breaks or control characters"
    if scheduler == "slurm" and "\\" in path:  # it switches the pattern off
        return "a backslash"
    if scheduler == "flux" and "{{" in path:
        return "{{"
    return "a colon, or both kinds of quotes" if scheduler == "pbs" and (":" in path or {'"', "'"} <= set(path)) else ""


def sbatch_word(text: str) -> str:
    """As sbatch reads words of a directive: a backslash takes the next character as it is, blanks are between quotes."""
    return text if re.fullmatch(PLAIN, text) else '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def qsub_word(text: str) -> str:
    """As qsub reads words: between quotes all characters are as they are."""
    quote = "'" if '"' in text else '"'
    return text if re.fullmatch(PLAIN, text) else f"{quote}{text}{quote}"


def slurm(part: Part, name: str, array: bool, launch: dict[str, Any], folder: Path) -> tuple[list[str], str]:
    one = part.first
    told = [f"--job-name={name}", f"--output={str(folder).replace('%', '%%')}/jobs/{part.name}-%{'A_%a' if array else 'j'}.out"]
    if one.ranks_per_node:
        told += [f"--nodes={one.nodes}", f"--ntasks-per-node={min(one.ranks, one.ranks_per_node)}"]
    told += [f"--ntasks={one.ranks}", f"--cpus-per-task={one.threads}"]
    if one.gpus:
        told.append(f"--gpus-per-node={-(-one.gpus // one.nodes)}" if one.ranks_per_node else f"--gpus={one.gpus}")
    told += ["--exclusive"] if launch["exclusive"] else []
    told += [f"--time={time_limit(part, array, launch)}", f"--signal=B:TERM@{launch['warn']}"]
    told += [f"--{key}={launch[key]}" for key in ("partition", "account", "qos", "constraint", "reservation") if launch[key]]
    if array:
        told.append(f"--array={listed(part.repeats)}%{launch['at_once']}")
    return [sbatch_word(word) for word in told], "SLURM_ARRAY_TASK_ID"


def flux(part: Part, name: str, array: bool, launch: dict[str, Any], folder: Path) -> tuple[list[str], str]:
    one = part.first
    told = [f"--job-name={name}", f"--output={folder}/jobs/{part.name}-{{{{id}}}}.out"]
    if one.ranks_per_node:
        told.append(f"--nodes={one.nodes}")
    told += [f"--nslots={one.ranks}", f"--cores-per-slot={one.threads}"]
    if one.gpus:
        told.append(f"--gpus-per-slot={-(-one.gpus // one.ranks)}")
    told += ["--exclusive"] if launch["exclusive"] and one.ranks_per_node else []
    told += [f"--time-limit={seconds_of(time_limit(part, array, launch))}s", f"--signal=TERM@{launch['warn']}s"]
    told += [f"--{option}={launch[key]}" for key, option in (("partition", "queue"), ("account", "bank")) if launch[key]]
    return [shlex.quote(word) for word in told], ""


def pbs(part: Part, name: str, array: bool, launch: dict[str, Any], folder: Path) -> tuple[list[str], str]:
    one = part.first
    nodes = one.nodes if one.ranks_per_node else 1
    per_node = -(-one.ranks // nodes)
    select = f"select={nodes}:ncpus={per_node * one.threads}:mpiprocs={per_node}:ompthreads={one.threads}"
    if one.gpus:
        select += f":ngpus={-(-one.gpus // nodes)}"
    seconds = seconds_of(time_limit(part, array, launch))
    walltime = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    told = [f"-N {name[:230]}", "-j oe", f"-o {qsub_word(f'{folder}/jobs/')}", f"-l {select}", f"-l walltime={walltime}"]
    told += ["-l place=excl"] if launch["exclusive"] else []
    told += [f"{option} {qsub_word(launch[key])}" for key, option in (("partition", "-q"), ("account", "-A")) if launch[key]]
    if array:
        told.append(f"-J {part.repeats[0]}-{part.repeats[-1]}%{launch['at_once']}")
    return told, "PBS_ARRAY_INDEX"


SCHEDULERS = {"slurm": slurm, "flux": flux, "pbs": pbs}


def seconds_of(limit: str) -> int:
    """A time limit as Slurm reads it: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS."""
    days, dash, rest = limit.rpartition("-")
    numbers = [int(number) for number in rest.split(":")]
    if dash:
        hours, minutes, seconds = (numbers + [0, 0])[:3]
    elif len(numbers) == 1:
        hours, minutes, seconds = 0, numbers[0], 0
    else:
        hours, minutes, seconds = ([0] + numbers)[-3:]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def listed(numbers: list[int]) -> str:
    """1-3,5."""
    runs = grouped(numbers, lambda number: number - numbers.index(number)).values()
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def find_part(name: str, points: list[Point]) -> list[Point]:
    """The points of a job's part."""
    found = [point for point in points if part_name(point) == name]
    if not found:
        raise StudyError(f"--part {name}: no points are of this size; there are {', '.join(dict.fromkeys(map(part_name, points)))}", "E-STUDY-POINT")
    return found

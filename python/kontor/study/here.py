# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the study is started: the project's folders, and the machine, or the part of it that a job has been given."""

import contextlib
import os
import re
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..messages import said
from ..place import Place
from .problems import StudyError


@dataclass
class Machine:
    hosts: list[str]
    cpu: str
    cores: int  # of all nodes
    memory_bytes: int  # of all nodes
    gpus: list[str]  # names, of all nodes
    mpi: str
    nodes: int = 1
    job: str = ""  # the scheduler's, if this is the part of a machine that a job was given


@dataclass
class Here:
    """scripts/kontor tells what it knows by the environment."""

    root: Path = field(default_factory=lambda: Place.here().root)
    build: Path = field(default_factory=lambda: Path(os.environ.get("KONTOR_STUDY_BUILD") or Place.here().build).absolute())

    @property
    def kontor(self) -> str:
        return str(Place.here().kontor)

    @property
    def apps(self) -> list[str]:
        return Place.here().apps

    def lasting(self, path: Path) -> str:
        """From the project's folder if it lies below, else absolute."""
        return str(path.relative_to(self.root) if path.is_relative_to(self.root) else path)

    def make(self, *targets: str) -> None:
        """Builds them, unless the caller of this command has seen to it. Raises StudyError."""
        if not Place.here().is_source:
            return
        done = subprocess.run([self.kontor, "build", *targets], check=False)
        if done.returncode != 0:
            raise StudyError("study: not begun, because the build failed", "E-BUILD-FAILED", code=done.returncode if done.returncode in (2, 3) else 3)

    @staticmethod
    def environment(**more: str) -> dict[str, str]:
        """For the programs: what was built before the first run is not built again."""
        return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "KONTOR_BUILT": "1", **more}


def describe_machine() -> Machine:
    nodes = _nodes()
    cores = min(int(os.environ.get(name) or 1 << 30) for name in ("KONTOR_STUDY_CORES", "SLURM_CPUS_ON_NODE"))
    return Machine(hosts=_hosts(), cpu=_cpu(), cores=nodes * (cores if cores < 1 << 30 else os.cpu_count() or 1), memory_bytes=nodes * _memory(),
                   gpus=nodes * _gpus(), mpi=os.environ.get("KONTOR_STUDY_MPI", ""), nodes=nodes, job=_job())


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """In what two machines differ, in words. Hosts of a job differ from one job to the next: what they are counts, not their names."""
    in_jobs = one.get("job") or other.get("job")
    keys = ["cpu", "gpus", "mpi"] + ([] if in_jobs else ["hosts", "cores", "memory_bytes"])
    told = []
    for key in keys:
        mine, its = one.get(key), other.get(key)
        if key == "memory_bytes" and mine and its and abs(mine - its) < 0.05 * max(mine, its):
            continue
        if key == "gpus" and in_jobs:
            mine, its = sorted(set(mine or [])), sorted(set(its or []))
        if mine != its:
            told.append(f"{key.removesuffix('_bytes')} {mine or 'none'}, was {its or 'none'}")
    return told


def _job() -> str:
    names = {"SLURM_JOB_ID": "Slurm", "FLUX_URI": "Flux", "PBS_JOBID": "PBS"}
    return next((f"{scheduler} {os.environ[name]}" for name, scheduler in names.items() if os.environ.get(name)), "")


def _nodes() -> int:
    """Of the job, or 1."""
    text = os.environ.get("SLURM_JOB_NUM_NODES", "")
    if os.environ.get("FLUX_URI"):
        text = said("flux", "resource", "list", "--states=up", "--no-header", "--format={nnodes}", seconds=20).strip()
    if os.environ.get("PBS_NODEFILE"):
        with contextlib.suppress(OSError):
            text = str(len(set(Path(os.environ["PBS_NODEFILE"]).read_text(encoding="utf-8").split())))
    return int(text) if text.isdigit() and int(text) > 0 else 1


def _hosts() -> list[str]:
    listed = os.environ.get("SLURM_JOB_NODELIST")
    if listed:
        done = said("scontrol", "show", "hostnames", listed, seconds=20)
        return done.split() or [listed]
    return [socket.gethostname()]


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "unknown"
    found = re.search(r"^(?:model name|cpu model|Processor)\s*:\s*(.+)$", text, re.MULTILINE)
    return " ".join(found.group(1).split()) if found else "unknown"


def _memory() -> int:
    """Bytes of this host, or what a control group leaves of it."""
    most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(most, int(os.environ.get("KONTOR_STUDY_MEMORY") or most))


def _gpus() -> list[str]:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [line.split(":", 1)[1].split(" (UUID")[0].strip() for line in said("nvidia-smi", "-L", seconds=20).splitlines() if line.startswith("GPU ")]
    if visible is not None and names:
        return names[: len([word for word in visible.split(",") if word.strip() not in ("", "-1")])]
    return names

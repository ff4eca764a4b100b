# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine, or the part of it that a scheduler's job was given, and how two differ."""

import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..limits import Limits
from ..messages import said
from ..place import Place
from ..run.mpi import version_of


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


def describe_machine(place: Place) -> Machine:
    limits, nodes, listed = Limits(), _nodes(), os.environ.get("SLURM_JOB_NODELIST")
    hosts = said("scontrol", "show", "hostnames", listed, seconds=20).split() or [listed] if listed else []
    cores = min(limits.physical_cores, int(os.environ.get("SLURM_CPUS_ON_NODE") or 1 << 30))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    schedulers = {"SLURM_JOB_ID": "Slurm", "FLUX_URI": "Flux", "KONTOR_NODES": "KONTOR_NODES"}
    jobs = [f"{scheduler} {os.environ[name]}" for name, scheduler in schedulers.items() if os.environ.get(name)]
    return Machine(hosts or [socket.gethostname()], _cpu(), nodes * cores, nodes * min(memory, limits.memory or memory),
                   nodes * _gpus(), version_of(place.mpirun), nodes, next(iter(jobs), ""))


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """In what two machines differ, in words. Jobs differ in hosts: of them counts what hosts are, not their names."""
    in_jobs = one.get("job") or other.get("job")
    told = []
    for key in ("cpu", "gpus", "mpi", *(() if in_jobs else ("hosts", "cores"))):
        mine, its = one.get(key), other.get(key)
        if key == "gpus" and in_jobs:
            mine, its = sorted(set(mine or [])), sorted(set(its or []))
        if mine != its:
            told.append(f"{key} is {mine or 'none'}, was {its or 'none'}")
    return told


def _nodes() -> int:
    """Of the job, or 1. KONTOR_NODES tells it where another scheduler does."""
    text = os.environ.get("KONTOR_NODES") or os.environ.get("SLURM_JOB_NUM_NODES") or ""
    if os.environ.get("FLUX_URI") and not text:
        text = said("flux", "resource", "list", "--states=up", "--no-header", "--format={nnodes}", seconds=20).strip()
    return max(1, int(text)) if text.isdigit() else 1


def _cpu() -> str:
    file = Path("/proc/cpuinfo")
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    found = re.search(r"(?m)^(?:model name|cpu model|Processor)\s*:\s*(.+)$", text)
    return " ".join(found[1].split()) if found else "unknown"


def _gpus() -> list[str]:
    names = re.findall(r"(?m)^GPU [^:]*: *(.*?) *(?:\(UUID.*)?$", said("nvidia-smi", "-L", seconds=20))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    wanted = [word for word in (visible or "").split(",") if word.strip() not in ("", "-1")]
    return names if visible is None else names[:len(wanted)]

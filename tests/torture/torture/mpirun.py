# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launcher of a test, how it is told to keep to itself, and its processes: by a mark in their environment, whoever
their parent is by now."""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

MPIEXEC = os.environ.get("KONTOR_MPIEXEC", "mpirun")
MPI = Path(__file__).resolve().parents[3] / "python/kontor/run/mpi.py"

# As KONTOR_MPI_ENVIRONMENT in cmake/KontorTargets.cmake: more ranks than cores must work.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"} | dict(
    line.split("=", 1) for line in subprocess.run([sys.executable, MPI, MPIEXEC], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())


def own_lines(text: str) -> str:
    """Without what Open MPI's launcher and its libraries say of their own accord; version 5 cannot be told to be quiet."""
    text = re.sub(r"-{70,}\n(prterun|mpirun) (.*\n)*?-{70,}\n", "", text)
    own = re.compile(r"\[warn\] Epoll |mca_|\[[^]]*\] PMIX ERROR: PMIX_ERR_UNREACH ")
    return "".join(line for line in text.splitlines(keepends=True) if not own.match(line))


@functools.cache
def starts_several_programs() -> bool:
    """Whether `mpirun A : B` works: that of Debian 13, Open MPI 5.0.7, crashes."""
    command = [MPIEXEC, "-n", "1", "true", ":", "-n", "1", "true"]
    return subprocess.run(command, env={**os.environ, **ENVIRONMENT}, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


class Process(NamedTuple):
    pid: int
    rank: int | None  # of MPI_COMM_WORLD, as Open MPI and MPICH tell it
    name: str


def marked(mark: str) -> list[Process]:
    """Those alive that have `mark`, "NAME=value", among their variables."""
    wanted = mark.encode()
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            variables = Path(entry.path, "environ").read_bytes()
            if wanted not in variables:
                continue
            found.append(Process(int(entry.name), rank_of(variables), Path(entry.path, "comm").read_text().strip()))
        except OSError:
            continue  # it has ended, or is another user's
    return found


def rank_of(variables: bytes) -> int | None:
    for variable in variables.split(b"\0"):
        name, _, value = variable.partition(b"=")
        if name in (b"OMPI_COMM_WORLD_RANK", b"PMI_RANK"):
            return int(value)
    return None


def state_of(pid: int) -> str:
    """The kernel's letter, and where the process waits in the kernel; empty: it is not there."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return f"{state} {Path(f'/proc/{pid}/wchan').read_text()}"
    except OSError:
        return ""


def stack_of(pid: int) -> list[str]:
    """The frames of all its threads, if there is gdb, and it may look."""
    try:
        told = subprocess.run(["gdb", "-nx", "-batch", "-p", str(pid), "-ex", "thread apply all backtrace 60"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line for line in told.splitlines() if line.startswith(("Thread ", "#"))]

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that are recognised by a mark in their environment, whoever their parent is by now."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple


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

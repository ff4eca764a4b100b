# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where runs notice each other: a lock for each set of CPUs."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Mapping

from ..messages import say
from .launch import Launch
from .limits import Limits


def has_to_share(limits: Limits, launch: Launch, environment: Mapping[str, str]) -> bool:
    """Whether there are others on the CPUs of this run; says so."""
    folder = environment.get("KONTOR_LOCKS", "/dev/shm")
    sets = [limits.machine_cpus, limits.allowed_cpus] if limits.is_placed else [limits.machine_cpus]
    alone = [not folder or _alone_on(f"{folder}/kontor-cpus-{cpus}", launch) for cpus in sets]
    if alone[-1]:
        return False
    say(f"another run is under way on CPUs {limits.allowed_cpus}: ranks are not bound to cores, and the runs slow each"
        " other down")
    return True


def _alone_on(file: str, launch: Launch) -> bool:
    """Whether no other run of anybody has this lock. From then on this one has it, until all has ended that it
    starts."""
    try:
        with open(file, "x", encoding="ascii") as made:
            os.fchmod(made.fileno(), 0o644)  # whatever the umask: others lock it, too
    except OSError:
        pass  # it is there, or cannot be made
    try:
        lock = os.open(file, os.O_RDONLY)
    except OSError:
        return True
    launch.locks.append(lock)
    alone = _locked(lock, fcntl.LOCK_EX)
    end = time.monotonic() + 1
    while not _locked(lock, fcntl.LOCK_SH) and time.monotonic() < end:
        time.sleep(0.02)
    return alone


def _locked(lock: int, how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

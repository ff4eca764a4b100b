# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launcher of an MPI program here: that of the scheduler whose job this is, else mpirun."""

import fcntl
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..messages import SHARED_CORES, Failure, have, said, say
from ..place import Place
from .limits import Limits
from .mpi import Launch, mpi_of
from .slurm import SlurmJob

COUNT = re.compile(r"[1-9][0-9]{0,8}")  # of ranks


@dataclass(frozen=True)
class Launcher:
    place: Place
    environment: Mapping[str, str]
    threads: int  # of a rank
    limits: Limits

    @property
    def _slurm(self) -> SlurmJob | None:
        return SlurmJob(self.environment, self.threads, self.limits) if SlurmJob.is_here(self.environment) else None

    @property
    def _in_flux(self) -> bool:
        return bool(self.environment.get("FLUX_URI") or self.environment.get("FLUX_JOB_ID")) and have("flux")

    @property
    def job_ranks(self) -> int | None:
        """The ranks that the scheduler's job is for; none outside of jobs."""
        if job := self._slurm:
            return job.ranks
        if self._in_flux:
            cores = said("flux", "resource", "list", "--states=up", "--no-header", "--format={ncores}").split()
            return int(cores[0]) // self.threads if cores else None
        return None

    @property
    def default_ranks(self) -> int:
        """The ranks that fill what we have been given: the job's tasks, else the cores of this machine."""
        slots = self.job_ranks
        return max(1, self.limits.physical_cores // self.threads if slots is None else slots)

    def launch(self, ranks: int, dry_run: bool) -> Launch:
        asked = self.environment.get("KONTOR_RANKS_PER_NODE", "")
        if asked and not COUNT.fullmatch(asked):
            raise Failure(f"run: KONTOR_RANKS_PER_NODE is '{asked}'; allowed is a whole number from 1")
        per_node = int(asked) if asked else None
        nodes = -(-ranks // per_node) if per_node else 1
        if text := self.environment.get("KONTOR_LAUNCHER", ""):
            try:
                return Launch([*shlex.split(text), "-n", str(ranks)])
            except ValueError as error:
                raise Failure(f"run: KONTOR_LAUNCHER is '{text}': {error}; allowed are words as a shell has them"
                              ) from error
        if job := self._slurm:
            return job.launch(ranks, per_node, self.place)
        if self._in_flux:
            launch = Launch(["flux", "run", "-n", str(ranks), "-c", str(self.threads), "-o", "cpu-affinity=per-task"])
            launch.place_threads(self.threads, True, self.environment)
            launch.words += ["-N", str(nodes)] if per_node else []
            return launch
        return self._mpirun(ranks, per_node if nodes > 1 else None, dry_run)

    def _mpirun(self, ranks: int, per_node: int | None, dry_run: bool) -> Launch:
        mpirun = self.place.mpirun
        if not have(mpirun):
            raise Failure(f"no {mpirun} here: install an MPI (Debian: openmpi-bin), or set KONTOR_LAUNCHER",
                          error_id="E-LAUNCH-COMMAND")
        mpi = mpi_of(mpirun)
        words = [mpirun, "-n", str(ranks), *mpi.manners(self.environment)]
        launch = Launch(words, end_signal="USR1")  # Open MPI and MPICH pass it on
        binding = self._binding(ranks, launch, dry_run)
        launch.words += mpi.placement(self.threads, binding, per_node)
        own_cores = binding == "core" and mpi.binds or binding in ("core", "none") and ranks == 1
        launch.place_threads(self.threads, own_cores, self.environment)
        names = ("OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "KONTOR_START_SECONDS")
        launch.words += mpi.exports(name for name in names if self.environment.get(name) or name in launch.environment)
        if ranks > 1 and not _ranks_can_read_each_other():
            launch.words += mpi.copies_through_memory()
        return launch

    def _binding(self, ranks: int, launch: Launch, dry_run: bool) -> str:
        if ranks * self.threads > self.limits.physical_cores:
            return "crowded"
        if not dry_run and has_to_share(self.limits, launch, self.environment):
            return "shared"
        return "none" if self.limits.is_placed else "core"


def _ranks_can_read_each_other() -> bool:
    """Ranks copy straight from each other's memory, unless a container forbids that; where it does, it may kill who
    tries."""
    probe = [sys.executable, str(Path(__file__).with_name("cross_memory.py"))]
    return subprocess.run(probe, check=False).returncode == 0


def has_to_share(limits: Limits, launch: Launch, environment: Mapping[str, str]) -> bool:
    """Whether there are others on the CPUs of this run; says so."""
    folder = environment.get("KONTOR_LOCKS", "/dev/shm")
    sets = [limits.machine_cpus, limits.allowed_cpus] if limits.is_placed else [limits.machine_cpus]
    alone = [not folder or _alone_on(f"{folder}/kontor-cpus-{cpus}", launch) for cpus in sets]
    if alone[-1]:
        return False
    say(f"{SHARED_CORES}another run is under way on CPUs {limits.allowed_cpus}, so ranks are not bound to cores, and the"
        " runs slow each other down")
    return True


def _alone_on(file: str, launch: Launch) -> bool:
    """Whether no other run of anybody has this lock. From then on this one has it, until all has ended that it
    starts."""
    with suppress(OSError), open(file, "x", encoding="ascii") as made:  # unless it is there, or cannot be made
        os.fchmod(made.fileno(), 0o644)  # whatever the umask: others lock it, too
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
    with suppress(OSError):
        fcntl.flock(lock, how | fcntl.LOCK_NB)
        return True
    return False

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launcher of an MPI program here: that of the scheduler whose job this is, else mpirun."""

import fcntl
import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from ..limits import Limits
from ..messages import SHARED_CORES, Failure, have, said, say
from ..place import Place
from .cross_memory import ranks_can_read_each_other
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
    def _in_flux(self) -> bool:
        return bool(self.environment.get("FLUX_URI") or self.environment.get("FLUX_JOB_ID")) and have("flux")

    @property
    def job_ranks(self) -> int | None:
        """The ranks that the scheduler's job is for; none outside of jobs."""
        if job := SlurmJob.here(self.environment, self.threads, self.limits):
            return max(1, job.ranks)
        if self._in_flux:
            cores = said("flux", "resource", "list", "--states=up", "--no-header", "--format={ncores}").split()
            return max(1, int(cores[0]) // self.threads) if cores else None
        return None

    @property
    def default_ranks(self) -> int:
        """The ranks that fill what we have been given: the job's tasks, else the cores of this machine."""
        return self.job_ranks or max(1, self.limits.physical_cores // self.threads)

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
        if job := SlurmJob.here(self.environment, self.threads, self.limits):
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
        launch = Launch([mpirun, "-n", str(ranks)], end_signal="USR1")  # Open MPI and MPICH pass it on
        mpi, binding = mpi_of(mpirun), self._binding(ranks, launch, dry_run)
        own_cores = binding == "core" and bool(mpi.kind) or binding in ("core", "none") and ranks == 1
        launch.place_threads(self.threads, own_cores, self.environment)
        names = ("OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "KONTOR_START_SECONDS")
        exports = [name for name in names if self.environment.get(name) or name in launch.environment]
        launch.words += mpi.options(self.threads, binding, per_node, exports, self.environment,
                                    ranks == 1 or ranks_can_read_each_other())
        return launch

    def _binding(self, ranks: int, launch: Launch, dry_run: bool) -> str:
        if ranks * self.threads > self.limits.physical_cores:
            return "crowded"
        if not dry_run and has_to_share(self.limits, launch, self.environment):
            return "shared"
        return "none" if self.limits.is_placed else "core"


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
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_SH)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A job of Slurm: what it has been given, and the srun that starts a program on that."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping

from ..limits import Limits
from ..messages import SHARED_CORES, have, said, say
from ..place import Place
from .mpi import YIELDS, Launch

# srun takes variables of the job for its options. These contradict its options here or each other, as where a job has
# been submitted out of another. A step without memory has that of the job.
LEFT_OUT = ("CPUS_PER_TASK", "CPUS_PER_GPU", "HINT", "MEM_PER_CPU", "MEM_PER_GPU", "MEM_PER_NODE")


class SlurmJob:
    def __init__(self, environment: Mapping[str, str], threads: int, limits: Limits):
        self._environment, self._threads, self._limits = environment, threads, limits

    @classmethod
    def here(cls, environment: Mapping[str, str], threads: int, limits: Limits) -> SlurmJob | None:
        return cls(environment, threads, limits) if environment.get("SLURM_JOB_ID") and have("srun") else None

    def _number(self, name: str, default: int) -> int:
        text = self._environment.get(f"SLURM_{name}", "")
        return int(text) if text.isdigit() else default

    @property
    def nodes(self) -> int:
        return self._number("JOB_NUM_NODES", 1)

    @property
    def cpus(self) -> int:
        """Of all the job's nodes: "4(x2),2" are 10."""
        text = self._environment.get("SLURM_JOB_CPUS_PER_NODE", "")
        cpus = sum(int(count) * int(times or 1) for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text))
        return max(cpus or self._number("CPUS_ON_NODE", 1) * self.nodes, self._number("NTASKS", 1))

    @property
    def ranks(self) -> int:
        """The tasks that the job asked for, which `sbatch --nodes=1` alone does not; else what fills its CPUs."""
        return self._number("NTASKS", self.cores // self._threads)

    @property
    def cores(self) -> int:
        """Slurm counts hardware threads as CPUs; how many a core has is known on a node of the job."""
        limits = self._limits
        return self.cpus * limits.physical_cores // limits.processing_units if self._is_on_node else self.cpus

    @property
    def _is_on_node(self) -> bool:
        return bool(self._environment.get("SLURMD_NODENAME"))

    @property
    def cpus_per_task(self) -> str:
        per_task = re.search(r"(?:^|,)cpu[:=](\d+)", self._environment.get("SLURM_TRES_PER_TASK", ""))
        return self._environment.get("SLURM_CPUS_PER_TASK") or (per_task[1] if per_task else "1")

    def _leave_out_of_job(self, ranks: int, launch: Launch) -> None:
        names = [*LEFT_OUT]
        # The job's own number of tasks on a part of it holds for the job's own number of tasks.
        if str(ranks) != self._environment.get("SLURM_NTASKS"):
            names += [f"NTASKS_PER_{part}" for part in ("NODE", "SOCKET", "CORE", "GPU", "TRES")]
        wanted = self._environment.get("SLURM_TRES_PER_TASK", "").split(",")
        others = [resource for resource in wanted if not re.fullmatch(r"cpu[:=]\d+", resource)]
        if others and others != wanted:
            launch.environment["SLURM_TRES_PER_TASK"] = ",".join(others)
        elif others != wanted:
            names.append("TRES_PER_TASK")
        launch.without = [f"SLURM_{name}" for name in names]

    def launch(self, ranks: int, per_node: int | None, place: Place) -> Launch:
        threads = ranks * self._threads
        launch = Launch(["srun", "-n", str(ranks)], end_signal="USR1")
        own_cores = ranks <= self.nodes
        if ranks < self.nodes:
            launch.words.append(f"--nodes={ranks}")
        if self._environment.get("SLURM_STEP_ID"):
            launch.words.append("--overlap")  # srun --pty bash has the job's cores
        self._leave_out_of_job(ranks, launch)
        if protocol := self._protocol(place):
            launch.words.append(f"--mpi={protocol}")
        if threads > self.cpus:
            launch.words.append("--overcommit")
        else:
            launch.words.append(f"--cpus-per-task={self._threads}")
            if "task/none" not in _setting("TaskPlugin"):  # without a plugin that binds, srun warns of any --cpu-bind
                launch.words.append("--cpu-bind=cores")
                own_cores = True
            if threads > self.cores:
                say(f"{SHARED_CORES}{threads} threads of ranks are on {self.cores} cores,"
                    f" two on a core; -n {max(1, self.cores // self._threads)} gives each its own")
        of_node = -(-ranks // self.nodes) * self._threads
        if threads > self.cpus or self._is_on_node and of_node > self._limits.processing_units:
            launch.environment |= YIELDS  # else a rank that waits keeps others from computing
            own_cores = False
        launch.place_threads(self._threads, own_cores, self._environment)
        if per_node:
            launch.words += [f"--nodes={-(-ranks // per_node)}", f"--ntasks-per-node={min(ranks, per_node)}"]
        return launch

    def _protocol(self, place: Place) -> str:
        """By which ranks find each other, if it is not the default here: Open MPI speaks PMIx, MPICH PMI-2. With a
        wrong one Open MPI ends, and each rank of MPICH takes itself for the only one."""
        if self._environment.get("SLURM_MPI_TYPE") or not place.is_configured:  # the user's word, which srun obeys
            return ""
        wanted = "pmi2" if place.setting("KONTOR_MPI_IS_MPICH") == "1" else "pmix"
        default = _setting("MpiDefault")
        if default.startswith(wanted) or default == "cray_shasta":
            return ""
        known = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, check=False)
        return wanted if re.search(rf"\b{wanted}\b", known.stdout + known.stderr) else ""


def _setting(name: str) -> str:
    """A line of the configuration, such as "TaskPlugin = task/none"; empty where Slurm does not say."""
    found = re.search(rf"(?m)^{name} *= (.*)$", said("scontrol", "show", "config"))
    return found[1] if found else ""

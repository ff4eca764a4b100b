#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a program is started on its ranks, and what differs between MPIs' launchers.

`mpi.py MPIRUN` prints what tests that start ranks have in their environment, a NAME=VALUE a line.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# The variables for a launcher that ends at once when a rank has failed; else Open MPI's waits two seconds.
ENDS_AT_ONCE = {"OMPI_MCA_odls_base_sigkill_timeout": "0", "PRTE_MCA_odls_base_sigkill_timeout": "0"}
# The variable by which ranks of Open MPI that wait let others compute.
YIELDS = {"OMPI_MCA_mpi_yield_when_idle": "1"}
# The variables by which a program without a launcher starts no daemon, and hwloc loads no libraries of displays and
# GPUs: half the time of such a start, a quarter of one by the launcher.
STARTS_SOON = {"OMPI_MCA_ess_singleton_isolated": "1", "HWLOC_PLUGINS_PATH": "/nowhere"}


@dataclass
class Launch:
    words: list[str]  # that start it, before its own
    environment: dict[str, str] = field(default_factory=dict)  # variables that its ranks have besides
    without: list[str] = field(default_factory=list)  # the names of those that it must not have
    end_signal: str = "TERM"  # by which ranks end by themselves: USR1 if the launcher passes it on; TERM may kill them
    locks: list[int] = field(default_factory=list)  # descriptors that all that it starts keep open

    def place_threads(self, threads: int, own_cores: bool, environment: Mapping[str, str]) -> None:
        """Where a rank's threads run, unless the user has said it. Where ranks share cores, threads are not bound:
        those of the same number would be, all to the same core."""
        if any(environment.get(name) for name in ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY")):
            return
        bound, free = {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}, {"OMP_PROC_BIND": "false"}
        self.environment |= bound if own_cores and threads > 1 else free


class Mpi:
    """A launcher of which nothing is known; those that are known derive from it."""

    binds = False

    def manners(self, environment: Mapping[str, str]) -> list[str]:
        """Options by which it is quiet, works for root, and works at all."""
        return []

    def placement(self, threads: int, binding: str, per_node: int | None) -> list[str]:
        """How ranks are placed and bound. Binding is `core`: each to cores of its own, one for each thread; `crowded`,
        where there are more threads than cores: none is bound, and ranks of Open MPI that wait yield; or anything else:
        none is bound."""
        return ["-ppn", str(per_node)] if per_node else []

    def exports(self, names: Iterable[str]) -> list[str]:
        """Variables that ranks on other nodes are to have, too; those of Slurm, Flux and Hydra have all."""
        return []

    def copies_through_memory(self) -> list[str]:
        """For ranks that may not read each other's memory, by which Open MPI else fails."""
        return []

    def crowded(self, environment: Mapping[str, str]) -> dict[str, str]:
        """By which root may start more ranks than there are cores, unbound, waiting ones yield, and the launcher ends
        at once and says nothing of its own. An unknown launcher gets the variables of all."""
        return OpenMpi4().crowded(environment) | OpenMpi5().crowded(environment)


class Hydra(Mpi):
    """That of MPICH and its kin."""

    binds = True

    def placement(self, threads: int, binding: str, per_node: int | None) -> list[str]:
        bind = ["-bind-to", f"core:{threads}"] if binding == "core" else []
        return bind + super().placement(threads, binding, per_node)

    def crowded(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {}


class OpenMpi(Mpi):
    binds = True

    def manners(self, environment: Mapping[str, str]) -> list[str]:
        return ["--allow-run-as-root"] if os.geteuid() == 0 else []

    def placement(self, threads: int, binding: str, per_node: int | None) -> list[str]:
        modifier = ":OVERSUBSCRIBE" if binding == "crowded" else ""
        if binding == "core" and threads > 1:
            modifier = f":PE={threads}"
        place = f"ppr:{per_node}:node" if per_node else "slot"
        map_by = ["--map-by", place + modifier] if per_node or modifier else []
        return [*map_by, "--bind-to", "core" if binding == "core" else "none"]

    def exports(self, names: Iterable[str]) -> list[str]:
        return [word for name in names for word in ("-x", name)]

    def crowded(self, environment: Mapping[str, str]) -> dict[str, str]:
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        pml = environment.get("OMPI_MCA_pml") or "ob1"
        return {**as_root, **ENDS_AT_ONCE, **YIELDS, **STARTS_SOON, "OMPI_MCA_pml": pml}


class OpenMpi4(OpenMpi):
    """Up to 4: its launcher says nothing of its own about exit codes, which would bury the program's message."""

    def manners(self, environment: Mapping[str, str]) -> list[str]:
        return ["--quiet", *super().manners(environment)]

    def copies_through_memory(self) -> list[str]:
        return ["--mca", "btl_vader_single_copy_mechanism", "none"]

    def crowded(self, environment: Mapping[str, str]) -> dict[str, str]:
        settings = {"rmaps_base_oversubscribe": "1", "hwloc_base_binding_policy": "none", "orte_execute_quiet": "1"}
        return super().crowded(environment) | {f"OMPI_MCA_{name}": value for name, value in settings.items()}


class OpenMpi5(OpenMpi):
    """From 5, whose launcher is PRRTE."""

    # Of 5.0.7: it takes IPv6 up and each rank complains (its issue 14079); and where the fragments of shared memory are
    # used up, 512 by default, its ob1 may never take up the acknowledgements that wait for one, as of many synchronous
    # messages (its issues 92 and 3845).
    SETTINGS = {"btl_tcp_disable_family": "6", "btl_sm_free_list_max": "4096"}
    POLICIES = ("rmaps_default_mapping_policy", "hwloc_default_binding_policy")

    def manners(self, environment: Mapping[str, str]) -> list[str]:
        unsaid = {name: value for name, value in self.SETTINGS.items() if not environment.get(f"OMPI_MCA_{name}")}
        return [word for item in unsaid.items() for word in ("--mca", *item)] + super().manners(environment)

    def copies_through_memory(self) -> list[str]:
        return ["--mca", "smsc", "^cma"]

    def crowded(self, environment: Mapping[str, str]) -> dict[str, str]:
        settings = {f"OMPI_MCA_{name}": value for name, value in self.SETTINGS.items()}
        settings |= {f"PRTE_MCA_{name}": value for name, value in zip(self.POLICIES, (":oversubscribe", "none"))}
        return super().crowded(environment) | settings


class OpenMpi6(OpenMpi5):
    """From 6, which warns of the older names."""

    POLICIES = ("mapby", "bindto")


def version_of(launcher: str) -> str:
    """The line by which it says what it is. Only its stdout counts, and not all of that need be its own."""
    try:
        said = subprocess.run([launcher, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False).stdout
    except OSError:
        return ""
    known = re.search(r"(?m)^.*(\(Open MPI\) |\(OpenRTE\) |PRRTE|HYDRA|Intel\(R\) MPI).*$", said)
    return known[0] if known else ""


def mpi_of(launcher: str) -> Mpi:
    version = version_of(launcher)
    kinds = {r"\(Open MPI\) [1-4]\.|OpenRTE": OpenMpi4, r"\(Open MPI\) 5\.|PRRTE": OpenMpi5,
             r"\(Open MPI\) ": OpenMpi6, "HYDRA|Intel": Hydra}
    return next((kind for pattern, kind in kinds.items() if re.search(pattern, version)), Mpi)()


def left_by(pid: int, environment: Mapping[str, str]) -> list[Path]:
    """The folders that a launcher of Open MPI leaves when it is killed."""
    temporary, host, user = Path(environment.get("TMPDIR") or "/tmp"), os.uname().nodename, os.getuid()
    return [temporary / f"ompi.{host}.{user}/pid.{pid}", temporary / f"prterun.{host}.{pid}.{user}"]


if __name__ == "__main__":
    print("KONTOR_LOCKS=")  # several runs at once
    for variable in mpi_of(sys.argv[1]).crowded(os.environ).items():
        print(*variable, sep="=")

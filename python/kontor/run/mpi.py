# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a program is started on its ranks, and what differs between MPIs' launchers."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..messages import said

# The variables for a launcher that ends at once when a rank has failed; else Open MPI's waits two seconds.
ENDS_AT_ONCE = {"OMPI_MCA_odls_base_sigkill_timeout": "0", "PRTE_MCA_odls_base_sigkill_timeout": "0"}
# The variable by which ranks of Open MPI that wait let others compute.
YIELDS = {"OMPI_MCA_mpi_yield_when_idle": "1"}
# Of 5.0.7: it takes IPv6 up and each rank complains (its issue 14079); and where the fragments of shared memory are
# used up, 512 by default, its ob1 may never take up the acknowledgements that wait for one, as of many synchronous
# messages (its issues 92 and 3845).
OPEN_MPI_5 = {"btl_tcp_disable_family": "6", "btl_sm_free_list_max": "4096"}


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


class Mpi(NamedTuple):
    kind: str = ""  # "open", "hydra" (MPICH's) or unknown
    version: int = 0  # of Open MPI: its launcher is ORTE up to 4, PRRTE from 5

    def options(self, threads: int, binding: str, per_node: int | None, exports: Iterable[str],
                environment: Mapping[str, str], reads_each_other: bool = True) -> list[str]:
        """How ranks are placed and bound, are quiet, work for root, and work where they may not read each other's memory,
        as Open MPI's do. An unknown launcher gets none.

        Binding is `core`: each rank to cores of its own, one for each thread; `crowded`, where there are more threads
        than cores: none is bound, and ranks of Open MPI that wait yield; or anything else: none is bound. `exports` are
        variables that ranks on other nodes are to have, too; those of Hydra have all."""
        if self.kind == "hydra":
            bind = ["-bind-to", f"core:{threads}"] if binding == "core" else []
            return bind + (["-ppn", str(per_node)] if per_node else [])
        if self.kind != "open":
            return []
        is_old = self.version < 5
        settings = {} if is_old else {name: value for name, value in OPEN_MPI_5.items()
                                      if not environment.get(f"OMPI_MCA_{name}")}
        if not reads_each_other:
            settings |= {"btl_vader_single_copy_mechanism": "none"} if is_old else {"smsc": "^cma"}
        modifier = ":OVERSUBSCRIBE" if binding == "crowded" else ""
        if binding == "core" and threads > 1:
            modifier = f":PE={threads}"
        place = f"ppr:{per_node}:node" if per_node else "slot"
        # What an old one says of exit codes would bury the program's message.
        return [*["--quiet"] * is_old, *(word for item in settings.items() for word in ("--mca", *item)),
                *["--allow-run-as-root"] * (os.geteuid() == 0),
                *(["--map-by", place + modifier] if per_node or modifier else []),
                "--bind-to", "core" if binding == "core" else "none",
                *(word for name in exports for word in ("-x", name))]


def version_of(launcher: str) -> str:
    """The line by which it says what it is. Only its stdout counts, and not all of that need be its own."""
    found = re.search(r"(?m)^.*(\(Open MPI\) |\(OpenRTE\) |PRRTE|HYDRA).*$", said(launcher, "--version"))
    return found[0] if found else ""


def mpi_of(launcher: str) -> Mpi:
    version = version_of(launcher)
    if number := re.search(r"\(Open(?: MPI|RTE)\) (\d+)", version):
        return Mpi("open", int(number[1]))
    return Mpi("hydra") if "HYDRA" in version else Mpi("open", 5) if version else Mpi()


def left_by(pid: int, environment: Mapping[str, str]) -> list[Path]:
    """The folders that a launcher of Open MPI leaves when it is killed."""
    temporary, host, user = Path(environment.get("TMPDIR") or "/tmp"), os.uname().nodename, os.getuid()
    return [temporary / f"ompi.{host}.{user}/pid.{pid}", temporary / f"prterun.{host}.{pid}.{user}"]

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mpi_environment.py MPIRUN: what tests that start ranks have in their environment, a NAME=VALUE a line."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from kontor.run.mpi import ENDS_AT_ONCE, OPEN_MPI_5, YIELDS, mpi_of  # noqa: E402

# By which a program without a launcher starts no daemon, and hwloc loads no libraries of displays and GPUs: half the
# time of such a start, a quarter of one by the launcher.
STARTS_SOON = {"OMPI_MCA_ess_singleton_isolated": "1", "HWLOC_PLUGINS_PATH": "/nowhere"}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def crowded(version):
    """By which root may start more ranks than there are cores, unbound, waiting ones yield, and the launcher ends at
    once and says nothing of its own."""
    if version < 5:
        names = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
                 "OMPI_MCA_orte_execute_quiet": "1"}
    elif version < 6:
        names = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none"}
    else:
        names = {"PRTE_MCA_mapby": ":oversubscribe", "PRTE_MCA_bindto": "none"}
    settings = {"pml": os.environ.get("OMPI_MCA_pml") or "ob1"} | (OPEN_MPI_5 if version >= 5 else {})
    return {**AS_ROOT, **ENDS_AT_ONCE, **YIELDS, **STARTS_SOON, **names,
            **{f"OMPI_MCA_{name}": value for name, value in settings.items()}}


if __name__ == "__main__":
    print("KONTOR_LOCKS=")  # several runs at once
    mpi = mpi_of(sys.argv[1])
    for variable in (crowded(mpi.version) if mpi.kind == "open" else {}).items():
        print(*variable, sep="=")

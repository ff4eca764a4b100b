# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launcher of a test, and how it is told to keep to itself."""

from __future__ import annotations

import os

MPIEXEC = os.environ.get("KONTOR_MPIEXEC", "mpirun")

# As kontor_add_mpi_run() in cmake/KontorTargets.cmake: more ranks than cores must work. Then: mpirun is to say nothing of its
# own, and not to rest for two seconds after an error.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OMP_PROC_BIND": "false",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_orte_execute_quiet": "1",
    "OMPI_MCA_odls_base_sigkill_timeout": "0",
}


def own_lines(text: str) -> str:
    """Without what Open MPI's launcher and its event library say of their own accord."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(("[warn] Epoll ", "mca_")))

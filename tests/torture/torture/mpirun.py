# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launcher of a test, and how it is told to keep to itself."""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

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

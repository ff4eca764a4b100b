# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands that need packages of Python: report, study and predict; and a run that reads HDF5 files."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from .messages import Failure, have
from .place import Place
from .run.limits import Limits
from .run.mpi import version_of
from .start import start

CHECK = "import sys, importlib.util as u; sys.exit(sys.version_info < (3, 9) or not u.find_spec(sys.argv[1]))"


def call(command: str, words: list[str], place: Place) -> int:
    need("h5py" if command == "report" else "yaml", command)
    if command == "report":
        return start("report", "kontor.report.command", words)
    os.environ["KONTOR_STUDY_BUILD"] = str(place.build)
    if command == "predict":
        place.need_source("predict")
        os.execv(sys.executable, [sys.executable, str(place.root / "lab/model/predict.py"), *words])
    limits = Limits()
    os.environ |= {"KONTOR_STUDY_CORES": str(limits.physical_cores), "KONTOR_STUDY_MEMORY": str(limits.memory or ""),
                   "KONTOR_STUDY_MPI": version_of(place.mpirun)}
    return start("study", "kontor.study.command", [place.find(word) for word in words])


def need(module: str, what: str) -> None:
    """Continues under a Python that has the module, if this one does not: the python3 on PATH may have what the
    system's does not."""
    if importlib.util.find_spec(module):
        return
    for python in () if os.environ.get("KONTOR_PYTHON") else ("/usr/bin/python3", "python3"):
        check = [python, "-c", CHECK, module]
        if have(python) and subprocess.run(check, check=False, stdin=subprocess.DEVNULL).returncode == 0:
            os.execvp(python, [python, str(Path(__file__).parent), *sys.argv[1:]])
    raise Failure(f"{what} needs Python with {module}: apt-get install python3-{module}, or set KONTOR_PYTHON",
                  error_id="E-REPORT-PACKAGE")

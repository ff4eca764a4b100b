# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands that need packages of Python: compare, benchmark, report, predict; study; a run that reads HDF5 files."""

import importlib
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

from . import OLDEST
from .messages import Failure, have, say
from .place import Place

CHECK = f"import sys, importlib.util as u; sys.exit(sys.version_info < {OLDEST} or not u.find_spec(sys.argv[1]))"


def call(command: str, words: list[str], place: Place) -> int:
    if command != "study":
        need("numpy" if command in ("benchmark", "compare", "report") else "yaml", command)
    if command == "predict":
        os.execv(sys.executable, [sys.executable, str(place.root / "lab/model/predict.py"), *words])
    words = words if command == "report" else [place.find(word) for word in words]
    return start(command, f"kontor.{command}.command", words)


def start(name: str, module: str, words: list[str]) -> int:
    """Calls main(words) of the module, for `kontor NAME`; ends quietly where `| head` closes the output, and with a
    message where Python lacks a package, also one of an option. Returns the exit code."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        return int(importlib.import_module(module).main(words))
    except ModuleNotFoundError as error:
        say(f"{name} needs Python with {error.name}: apt-get install python3-{error.name}",
            "E-REPORT-PACKAGE")
        return 2


def need(module: str, what: str) -> None:
    """Continues under a Python that has the module, if this one does not: the python3 on PATH may have what the
    system's does not."""
    if importlib.util.find_spec(module):
        return
    for python in () if os.environ.get("KONTOR_PYTHON") else ("/usr/bin/python3", "python3"):
        check = [python, "-c", CHECK, module]
        if have(python) and subprocess.run(check, check=False, stdin=subprocess.DEVNULL).returncode == 0:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until main()
            os.execvp(python, [python, str(Path(__file__).parent), *sys.argv[1:]])
    raise Failure(f"{what} needs Python with {module}: apt-get install python3-{module}, or set KONTOR_PYTHON",
                  error_id="E-REPORT-PACKAGE")

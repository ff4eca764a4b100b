# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands that need packages of Python: compare, benchmark, report, predict, and some of study."""

import importlib
import os
import signal
import sys

from .messages import say
from .place import Place


def call(command: str, words: list[str], place: Place) -> int:
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
        say(f"{name} needs Python with {error.name}: apt-get install python3-{error.name}, or set KONTOR_PYTHON",
            "E-REPORT-PACKAGE")
        return 2

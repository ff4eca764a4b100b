# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a command begins: with a message where Python lacks a package, and without one where `| head` cuts its output."""

from __future__ import annotations

import importlib
import signal

from .messages import say


def start(name: str, module: str, words: list[str]) -> int:
    """Calls main(words) of the module, for `kontor NAME`. Returns the exit code."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        command = importlib.import_module(module)
    except ModuleNotFoundError as error:
        say(f"{name} needs Python with {error.name}: apt-get install python3-{error.name}")
        return 2
    return int(command.main(words))

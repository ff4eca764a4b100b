# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a command begins: with a word where Python lacks a package, and without one where its output is cut by `| head`."""

import importlib
import signal
import sys


def start(name: str, module: str, words: list[str]) -> int:
    """Calls main(words) of the module, for `kontor NAME`. Returns the exit code."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        command = importlib.import_module(module)
    except ModuleNotFoundError as error:
        print(f"kontor: {name} needs Python with {error.name}: apt-get install python3-{error.name}", file=sys.stderr)
        return 2
    return command.main(words)

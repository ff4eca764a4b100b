#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor predict: what a study's runs would take on a described machine."""

import signal
import sys


def start():
    try:
        from kontor_model.command import main
    except ModuleNotFoundError as error:
        print(f"kontor: predict needs Python with {error.name}: apt-get install python3-{error.name}", file=sys.stderr)
        return 2
    return main(sys.argv[1:])


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # kontor predict ... | head
    sys.exit(start())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: many runs from one file, planned, made, resumed and tabulated."""

import signal
import sys


def start():
    try:
        from kontor_study.command import main
    except ModuleNotFoundError as error:
        print(f"kontor: study needs Python with {error.name}: apt-get install python3-{error.name}", file=sys.stderr)
        return 2
    return main(sys.argv[1:])


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # kontor study --dry-run ... | head
    sys.exit(start())

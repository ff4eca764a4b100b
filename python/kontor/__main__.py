#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor COMMAND WORD...: the commands that are written in Python."""

import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from kontor.start import start

if __name__ == "__main__":
    sys.exit(start(sys.argv[1], f"kontor.{sys.argv[1]}.command", sys.argv[2:]))

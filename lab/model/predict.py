#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor predict: what a study's runs would take on a described machine."""

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "python"))

from kontor.packaged import start

if __name__ == "__main__":
    sys.exit(start("predict", "kontor_model.command", sys.argv[1:]))

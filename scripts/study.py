#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: many runs from one file, planned, made, resumed and tabulated."""

import sys

from kontor_study.start import start

if __name__ == "__main__":
    sys.exit(start("study", "kontor_study.command"))

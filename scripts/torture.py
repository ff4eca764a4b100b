#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor torture: a campaign of kills and faults."""

import sys

from kontor_study.start import start

if __name__ == "__main__":
    sys.exit(start("torture", "kontor_torture.command"))

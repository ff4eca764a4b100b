#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails if a check of a mini-app includes what it checks: a header of the app's kernels or methods."""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
APPS = ["advection", "cg", "dynamics", "heat", "matmul"]
CHECKED = ["algorithm", "kernels", "matrix", "solver"]  # folders of an app
EXCEPTIONS = {  # file and what it includes: why
    ("cg/check/verification.hpp", "cg/solver/stop_reason.hpp"): "how the solve that is judged ended, in words",
}

found = []
excepted = set()
for app in APPS:
    files = sorted((ROOT / "miniapps" / app / "check").glob("*.[hc]pp"))
    if not files:
        found.append(f"{app}/check has no files")
    for file in files:
        name = str(file.relative_to(ROOT / "miniapps"))
        for number, line in enumerate(file.read_text().splitlines(), 1):
            include = re.match(rf'\s*#\s*include ["<]({app}/({"|".join(CHECKED)})/[^">]+)', line)
            if include and (name, include[1]) in EXCEPTIONS:
                excepted.add((name, include[1]))
            elif include:
                found.append(f"{name}:{number}: includes {include[1]}, which it checks")
found += [f"{name} no longer includes {include}" for name, include in EXCEPTIONS.keys() - excepted]
print("\n".join(found) or "no check includes what it checks")
sys.exit(1 if found else 0)

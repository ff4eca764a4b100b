#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails if a check of a mini-app includes what it checks: a header of the app's kernels or methods."""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
APPS = sorted(check.parent.name for check in ROOT.glob("miniapps/*/check") if (check.parent / "main.cpp").exists())
CHECKED = ["algorithm", "kernels", "matrix", "solver"]  # folders of an app
EXCEPTIONS = {  # file and what it includes: why
    ("cg/check/verification.hpp", "cg/solver/stop_reason.hpp"): "how the solve that is judged ended, in words",
}

found, included = [], set()
for app in APPS:
    files = sorted((ROOT / "miniapps" / app / "check").glob("*.[hc]pp"))
    found += [] if files else [f"{app}/check has no files"]
    for file in files:
        pattern = rf'(?m)^\s*#\s*include ["<]({app}/(?:{"|".join(CHECKED)})/[^">]+)'
        name = str(file.relative_to(ROOT / "miniapps"))
        included |= {(name, header) for header in re.findall(pattern, file.read_text())}
found += [f"{name}: includes {header}, which it checks" for name, header in sorted(included - EXCEPTIONS.keys())]
found += [f"{name} no longer includes {header}" for name, header in EXCEPTIONS.keys() - included]
print("\n".join(found) or "no check includes what it checks")
sys.exit(1 if found else 0)

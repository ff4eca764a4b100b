#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails if a file of cg includes one from a folder above its own."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ["base", "matrix", "problem", "preconditioner", "solver", "check", "app"]
BASE = ("cost.hpp", "names.hpp", "options.hpp", "scale.cpp", "scale.hpp", "solver_options.hpp")


def folder(path: str) -> str:
    """Of a file relative to cg/."""
    if "/" in path:
        return path.split("/")[0]
    return "base" if path in BASE else "app"


found = []
files = [file for file in sorted(ROOT.rglob("*.[hc]pp")) if "tests" not in file.parts]
for file in files:
    name = str(file.relative_to(ROOT))
    for number, line in enumerate(file.read_text().splitlines(), 1):
        other = re.match(r'#include "cg/([^"]+)"', line)
        if other and FOLDERS.index(folder(other[1])) > FOLDERS.index(folder(name)):
            found.append(f"{name}:{number}: {folder(name)} includes {other[1]}, of {folder(other[1])}, which lies above it")
print("\n".join(found) or f"{len(files)} files include nothing from above")
sys.exit(1 if found or len(files) < 40 else 0)

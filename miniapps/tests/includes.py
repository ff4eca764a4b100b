#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails if a file in a folder of a mini-app includes one of a folder above, directly or by headers beside the folders."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
APPS = sorted(main.parent.name for main in ROOT.glob("*/main.cpp") if (main.parent / "check").is_dir())
FOLDERS = ("matrix", "problem", "kernels", "preconditioner", "solver", "algorithm", "check")

found, count = [], 0
for app in APPS:
    paths = {str(path.relative_to(ROOT / app)): path for path in sorted((ROOT / app).rglob("*.[hc]pp")) if "tests" not in path.parts}
    includes = {name: re.findall(rf'^#include "{app}/([^"]+)"', path.read_text(), re.M) for name, path in paths.items()}

    def reached(name: str, includes: dict[str, list[str]] = includes) -> Iterator[str]:
        for other in includes[name]:
            yield from (other,) if "/" in other else reached(other)

    found += [f"{app}/{name} includes {other}, which lies above it" for name in paths if "/" in name for other in reached(name)
              if FOLDERS.index(other.split("/")[0]) > FOLDERS.index(name.split("/")[0])]
    count += len(paths)
print("\n".join(found) or f"{count} files include nothing from above")
sys.exit(1 if found or count < 150 else 0)

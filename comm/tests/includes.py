#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails if a file of the communication layer includes one from a floor above its own."""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
FLOORS = ["errors", "device", "sums", "mpi", "base", "views", "backend", "communicator", "checks", "exchange", "messages", "collectives",
          "reductions", "all"]
PUBLIC = {  # the headers directly in kontor/comm
    "all": "collectives comm",
    "base": "error mpi_check options",
    "backend": "mailboxes peer_wait reduce_op registry",
    "communicator": "communicator peer_memory",
    "exchange": "exchange faces phase_times sparse_exchange",
    "messages": "point_to_point probe request",
    "collectives": "alltoall_grid broadcast counts gather sparse_alltoall with_counts",
    "reductions": "exact_sum reduction reductions",
    "views": "view_of",
}
FLOOR_OF = {header: floor for floor, headers in PUBLIC.items() for header in headers.split()}


def floor(path: Path) -> str:
    """Of a file relative to the root, or of an installed header relative to kontor/."""
    parts = path.parts
    if parts[:4] == ("comm", "include", "kontor", "comm"):
        parts = parts[3:]
    elif "include" in parts:
        parts = parts[parts.index("kontor") + 1 :]
    if parts[0] != "comm":
        return parts[0]
    return FLOOR_OF[Path(parts[1]).stem] if len(parts) == 2 else parts[1]


def includes(file: Path):
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if found := re.match(r'#include (?:<kontor/([^>]+)>|"([^"]+)")', line):
            installed, private = found.groups()
            yield number, floor(Path(installed) if installed else Path("comm") / private)
        elif re.match(r"#include <mpi(-ext)?\.h>", line):
            yield number, "mpi"


found = []
seen = 0
for folder in ("errors", "device", "sums", "mpi", "comm"):
    for file in sorted((ROOT / folder).rglob("*.[hc]*")):
        name = file.relative_to(ROOT)
        if "tests" in name.parts or file.suffix not in (".hpp", ".cpp", ".cu", ".cuh"):
            continue
        seen += 1
        own = floor(name)
        for line, other in includes(file):
            if own == "device" and other == "mpi" and file.name == "clock.hpp":
                continue  # the simulator's clock is MPI's
            if FLOORS.index(other) > FLOORS.index(own):
                found.append(f"{name}:{line}: {own}/ includes {other}/, which lies above it")
print("\n".join(found) or f"{seen} files include nothing from above")
sys.exit(1 if found or seen < 100 else 0)

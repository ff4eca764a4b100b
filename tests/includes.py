#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""includes.py comm|miniapps: fails if a file of the communication layer, or of a mini-app, includes one from a floor
above its own, or if a check of a mini-app includes what it checks. A header beside the folders counts as what it
includes."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("errors", "device", "sums", "mpi", "comm")
FLOORS = ["errors", "device", "sums", "mpi", "base", "views", "backend", "communicator", "checks", "exchange",
          "messages", "collectives", "reductions", "all"]
PUBLIC = {  # the headers directly in kontor/comm
    "all": "collectives comm",
    "base": "error mpi_check options",
    "backend": "mailboxes peer_wait reduce_op registry",
    "communicator": "communicator peer_memory",
    "exchange": "exchange faces phase_times sparse_exchange",
    "messages": "point_to_point probe request",
    "collectives": "alltoall_grid broadcast counts gather neighbours sparse_alltoall with_counts",
    "reductions": "exact_sum reduction reductions",
    "views": "view_of",
}
FLOOR_OF = {f"{header}.hpp": floor for floor, headers in PUBLIC.items() for header in headers.split()}
FOLDERS = ["matrix", "problem", "kernels", "preconditioner", "solver", "algorithm", "check"]  # of an app
CHECKED = {"matrix", "kernels", "solver", "algorithm"}
EXCEPTION = ("cg/check/verification.hpp", "cg/solver/stop_reason.hpp")  # how the solve that is judged ended, in words


def sources(folder):
    """The names of files in the tree, and what each includes: <header> or "header"."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in (".hpp", ".cpp", ".cu", ".cuh") and "tests" not in path.parts:
            yield str(path.relative_to(ROOT)), re.findall(r'(?m)^#include ([<"][^">]+)', path.read_text())


def floor(name):
    """Of a file of the communication layer, by its name in the tree or in an #include."""
    if re.match("<mpi(-ext)?.h", name):
        return "mpi"
    name = re.sub(r'^(.*\binclude/|<)kontor/|^"', lambda found: "comm/" if found[0] == '"' else "", name)
    folder, *inner = name.split("/")
    return folder if folder != "comm" else FLOOR_OF[inner[0]] if len(inner) == 1 else inner[0]


def of_comm():
    for folder in LAYERS:
        for name, headers in sources(folder):
            own = floor(name)
            others = [floor(header) for header in headers if re.match('"|<kontor/|<mpi(-ext)?.h', header)]
            clock = name.endswith("device/clock.hpp")  # the simulator's clock is MPI's
            yield name, [f"{other}/" for other in others
                         if FLOORS.index(other) > FLOORS.index(own) and not (clock and other == "mpi")]


def of_miniapps():
    for app in {path.parent.parent.name for path in ROOT.glob("miniapps/*/check/*.hpp")}:
        files = {name.removeprefix("miniapps/"): [header[1:] for header in headers if header.startswith(f'"{app}/')]
                 for name, headers in sources(f"miniapps/{app}")}

        def reached(name, files=files):
            for other in files[name]:
                yield from (other,) if other.count("/") > 1 else reached(other)

        for name in files:
            _, own, *inner = name.split("/")
            above = FOLDERS[FOLDERS.index(own) + 1 :] if inner else []
            found = [other for other in reached(name) if other.split("/")[1] in above]
            if own == "check":
                wrong = (other for other in files[name] if other.split("/")[1] in CHECKED)
                found += [other for other in wrong if (name, other) != EXCEPTION]
            yield name, found


checked = dict({"comm": of_comm, "miniapps": of_miniapps}[sys.argv[1]]())
found = [f"{name} includes {other}, which it must not" for name, others in checked.items() for other in others]
print("\n".join(found) or f"{len(checked)} files include nothing from above")
sys.exit(1 if found or len(checked) < 100 else 0)

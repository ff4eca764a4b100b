#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types and apps of the tables in docs/reference/record.md, from small runs of the programs.

Paths, units and descriptions are written by hand; a row such as "| `/run@new` | | | | description |" gets the rest.
Where the column "apps" has a condition in words, it is kept, and no run need have the path. A row may have several
paths of one type, unit and description.
Paths: /run/matrix/rows is a member of the object /run/matrix, /run/timers[region] a column of a table.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py

from reference_page import ROOT, generate

TOPS = ("/fields", "/series")
NAMED = ((r"^(/run/figures_of_merit)/[^/]+.*", r"\1/NAME"), (r"^(/series)/\d+", r"\1/STEPS"))  # of any name

SMALL = "problem.sizes.from=2 problem.sizes.to=8 problem.sizes.factor=2 problem.repetitions=2"
PRODUCT = "problem.m=24 problem.n=24 problem.k=24"
PINGPONG = ("thesis-1d", "model", "gpu")
# Ranks, deck below inputs/, and what makes it small. Between them the runs have every path that this machine can have; one of
# each app calibrates.
CALIBRATED = "measure.calibrate=true"
RUNS = (
    (1, "heat/plate.yaml", "problem.cells=[12,12] checkpoint.every=100"),
    (2, "heat/diffusion.yaml", f"{CALIBRATED} problem.cells=[12,12] output.every=5 comm.backend=auto comm.pattern=auto"),
    (2, "advection/wave.yaml", f"{CALIBRATED} problem.cells=[20,10] solver.steps=40 output.every=20"),
    (2, "cg/heat-fe.yaml", f"{CALIBRATED} problem.fe_heat.elements=[4,4,4] solver.preconditioner=chebyshev"),
    (2, "cg/matrix-market.yaml", "solver.method=pipelined"),
    (2, "cg/poisson7.yaml", "problem.stencil.points=[6,6,6] solver.tolerance=1e-6"),
    (2, "matmul/square.yaml", f"{CALIBRATED} {PRODUCT} problem.write_c=true"),
    (2, "pingpong/halo.yaml", f"{CALIBRATED} {SMALL} problem.dimensions=[1]"),
    *((2, f"pingpong/{deck}.yaml", SMALL) for deck in PINGPONG),
    (2, "dynamics/bar.yaml", f"{CALIBRATED} problem.elements=[40,4,3] time.steps=20 output.every=10"),
    (2, "kernels/gram-schmidt.yaml", f"{CALIBRATED} problem.sizes=[64] problem.repetitions=2"),
)


@dataclass
class Seen:
    """What files have of a path."""

    types: set[str] = field(default_factory=set)
    apps: set[str] = field(default_factory=set)


SCALARS = {str: "text", bool: "boolean", int: "integer", float: "number"}


def general(path: str) -> str:
    for pattern, name in NAMED:
        path = re.sub(pattern, name, path)
    return path


def of_object(name: str, item: Any) -> tuple[str, str]:
    """The path of a group or dataset, and its type."""
    return general(name), f"{item.dtype}, {item.ndim}-D" if isinstance(item, h5py.Dataset) else "group"


def type_of(value: Any) -> str:
    """Empty where the value does not tell: null stands for a number that is not finite."""
    if isinstance(value, dict):
        return "object"
    if not isinstance(value, list):
        return SCALARS.get(type(value), "")
    kinds = {type_of(item) for item in value} - {""}
    several = ", ".join(re.sub(r"^\w+", r"\g<0>s", kind) for kind in sorted(kinds))
    return "table" if kinds == {"object"} else f"array of {several}" if kinds else ""


def of_json(value: Any, name: str = "/run") -> Iterator[tuple[str, str]]:
    """The paths of a record with their types."""
    path, kind = general(name), type_of(value)
    yield path, kind
    if kind == "object" and not path.endswith("/NAME"):
        for key, member in value.items():
            yield from of_json(member, f"{name}/{key}")
    if kind == "table":
        yield from ((f"{path}[{column}]", type_of(item)) for row in value for column, item in row.items())


def of_file(path: Path) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Paths with their types, regions with their kinds."""
    with h5py.File(path) as file:
        record = json.loads(file["run"][()])
        found = list(of_json(record))
        for top in TOPS:
            if top in file:
                found.append(of_object(top, file[top]))
                file[top].visititems(lambda name, item, top=top: found.append(of_object(f"{top}/{name}", item)))
    return found, {row["region"]: row.get("kind", "") for row in record["timers"]}


def run(mpirun: str, programs: dict[str, str], number: int, folder: Path) -> Path:
    """The HDF5 file of a run."""
    ranks, deck, settings = RUNS[number]
    result = folder / f"{number}.h5"
    words = (word for setting in ("measure.repeats=1", "measure.calibrate=false", *settings.split()) for word in ("--set", setting))
    command = [*shlex.split(mpirun), "-n", str(ranks), programs[deck.split("/")[0]], str(ROOT / "inputs" / deck),
               "--quiet", "-o", str(result), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode not in (0, 1) or not result.exists():
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return result


def collect(mpirun: str, programs: dict[str, str]) -> tuple[dict[str, Seen], dict[str, Seen]]:
    """Paths and regions of all runs."""
    paths: dict[str, Seen] = {}
    regions: dict[str, Seen] = {}
    with tempfile.TemporaryDirectory(prefix="kontor-record-") as folder:
        for number, (_, deck, _) in enumerate(RUNS):
            result = run(mpirun, programs, number, Path(folder))
            in_file, kinds = of_file(result)
            for all_of, mine in ((paths, in_file), (regions, kinds.items())):
                for name, kind in mine:
                    seen = all_of.setdefault(name, Seen())
                    seen.types |= {kind} - {""}
                    seen.apps.add(deck.split("/")[0])
    return paths, regions


def row(cells: list[str], seen: Seen | None, all_apps: set[str], wrong: list[str]) -> list[str]:
    """The cells of a line behind its name: type or kind, [unit,] apps, description."""
    name, kind, *unit, apps, text = cells
    is_condition = bool(set(apps.split(", ")) - {"all", "", *all_apps})
    if not text:
        wrong.append(f"{name} has no description")
    if seen is None:
        if not is_condition:
            wrong.append(f"no run has {name}, and its apps are no condition")
    elif not is_condition:
        kind, apps = " or ".join(sorted(seen.types)), "all" if seen.apps == all_apps else ", ".join(sorted(seen.apps))
    elif kind and kind not in seen.types:
        wrong.append(f"{name} has type {kind}; in a file it is {' or '.join(seen.types)}")
    return [kind, *unit, apps, text]


def tables(page: str, paths: dict[str, Seen], regions: dict[str, Seen], all_apps: set[str]) -> str:
    """The part of the page with the tables, renewed."""
    wrong: list[str] = []
    lines = []
    rows = set()
    for line in page.splitlines():
        if line.startswith("| `"):
            cell, *others = [cell.strip() for cell in line.strip("|").split("|")]
            names = re.findall("`([^`]+)`", cell)
            rows.update(names)
            known = paths if names[0][0] == "/" else regions
            ends = {" | ".join(row([name, *others], known.get(name), all_apps, wrong)) for name in names}
            if len(ends) > 1:
                wrong.append(f"{cell} differ in their types or apps")
            line = f"| {cell} | {ends.pop()} |"
        lines.append(line)
    wrong += [f"{name} has no row" for name in sorted({*paths, *regions} - rows)]
    if wrong:
        sys.exit("\n".join(wrong))
    return "\n".join(lines) + "\n"


def text_of(arguments: argparse.Namespace, old: str) -> str:
    programs = {Path(program).name: str(Path(program).resolve()) for program in arguments.programs}
    return tables(old, *collect(arguments.mpirun, programs), set(programs))


if __name__ == "__main__":
    generate(__doc__, "docs/reference/record.md", text_of)

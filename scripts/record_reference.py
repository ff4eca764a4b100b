#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The column "where" of the tables in docs/reference/record.md, from small runs of the programs.

Paths, units and descriptions are written by hand; a row such as "| `new` | | | description |" gets the rest. Where the
column has a condition in words, it is kept, and no run need have the path. A row may have several paths.
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
NAMED = ((r"^(figures_of_merit)/[^/]+.*", r"\1/NAME"), (r"^(/series)/\d+", r"\1/STEPS"))  # of any name

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
    (2, "fft/heat.yaml", f"{CALIBRATED} problem.cells=[12,12,12] solver.steps=12 output.every=6"),
    (2, "fft/poisson.yaml", "problem.cells=[12,12,12] solver.steps=2"),
    (2, "kernels/gram-schmidt.yaml", f"{CALIBRATED} problem.sizes=[64] problem.repetitions=2"),
)


@dataclass
class Seen:
    """What files have of a path or region."""

    apps: set[str] = field(default_factory=set)
    kind: str = ""  # of a region


def general(path: str) -> str:
    for pattern, name in NAMED:
        path = re.sub(pattern, name, path)
    return path


def of_json(value: Any, name: str = "") -> Iterator[str]:
    """The paths of a record."""
    path = general(name)
    if name:
        yield path
    if isinstance(value, dict) and not path.endswith("/NAME"):
        for key, member in value.items():
            yield from of_json(member, f"{name}/{key}".lstrip("/"))
    if isinstance(value, list):
        yield from (f"{path}[{column}]" for row in value if isinstance(row, dict) for column in row)


def of_file(path: Path) -> tuple[list[str], dict[str, str]]:
    """Paths, and regions with their kinds."""
    with h5py.File(path) as file:
        record = json.loads(file["run"][()])
        found = list(of_json(record))
        for top in TOPS:
            if top in file:
                found.append(top)
                file[top].visit(lambda name, top=top: found.append(general(f"{top}/{name}")))
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


def collect(mpirun: str, programs: dict[str, str]) -> dict[str, Seen]:
    """Paths and regions of all runs."""
    found: dict[str, Seen] = {}
    with tempfile.TemporaryDirectory(prefix="kontor-record-") as folder:
        for number, (_, deck, _) in enumerate(RUNS):
            paths, regions = of_file(run(mpirun, programs, number, Path(folder)))
            for name, kind in {**dict.fromkeys(paths, ""), **{f"region {name}": kind for name, kind in regions.items()}}.items():
                seen = found.setdefault(name, Seen())
                seen.apps.add(deck.split("/")[0])
                seen.kind = kind
    return found


def where_of(seen: Seen, all_apps: set[str], heading: str) -> str:
    """Empty for all apps, in the section of an app for that one."""
    usual = {heading} if heading in all_apps else all_apps
    return "" if seen.apps == usual else "all" if seen.apps == all_apps else ", ".join(sorted(seen.apps))


def tables(page: str, found: dict[str, Seen], all_apps: set[str]) -> str:
    """The part of the page with the tables, renewed."""
    wrong: list[str] = []
    lines, rows, heading, before = [], set(), "", ""
    for line in page.splitlines():
        if line.startswith("## "):
            heading = line.split()[1]
        if line.startswith("| path |") or line.startswith("| region |"):
            before = "region " if line.startswith("| region |") else ""
        if line.startswith("| `"):
            cell, unit, where, text = [cell.strip() for cell in line.strip("|").split("|")]
            names = [f"{before}{name}" for name in re.findall("`([^`]+)`", cell)]
            rows.update(names)
            is_condition = bool(set(where.split(", ")) - {"all", "", *all_apps})
            for name in names:
                if name not in found and not is_condition:
                    wrong.append(f"no run has {name}, and the column where has no condition")
            seen = [found[name] for name in names if name in found]
            if seen and not is_condition:
                ends = {where_of(each, all_apps, heading) for each in seen}
                if len(ends) > 1:
                    wrong.append(f"{cell} are of different apps")
                where = ends.pop()
            if seen and before:
                unit = seen[0].kind
            if not text:
                wrong.append(f"{cell} has no description")
            line = f"| {cell} | {unit} | {where} | {text} |".replace("|  |", "| |").replace("|  |", "| |")
        lines.append(line)
    wrong += [f"{name} has no row" for name in sorted(found.keys() - rows)]
    if wrong:
        sys.exit("\n".join(wrong))
    return "\n".join(lines) + "\n"


def text_of(arguments: argparse.Namespace, old: str) -> str:
    programs = {Path(program).name: str(Path(program).resolve()) for program in arguments.programs}
    return tables(old, collect(arguments.mpirun, programs), set(programs))


if __name__ == "__main__":
    generate(__doc__, "docs/reference/record.md", text_of)

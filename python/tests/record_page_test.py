# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/reference/record.md has all that small runs record: each path of their files, each region with its kind, and the
apps that have it. Where the column "where" has a condition in words, no run need have the path."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

from command import BUILD, ROOT

from kontor.place import Place

PLACE = Place(ROOT, BUILD, "release", True)
APPS = {app: PLACE.program(app) for app in PLACE.apps}
PAGE = ROOT / "docs/reference/record.md"
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
    (2, "graph/uniform.yaml", f"{CALIBRATED} problem.vertices=300 solver.roots=2 traffic.method=auto"),
    (2, "graph/kronecker.yaml", "problem.vertices=256 solver.roots=2"),
    (2, "graph/particles.yaml", "problem.particles=2000 solver.steps=5"),
    (2, "graph/sort.yaml", "problem.keys=2000 traffic.method=auto"),
    (2, "kernels/gram-schmidt.yaml", f"{CALIBRATED} problem.sizes=[64] problem.repetitions=2"),
)

if not find_spec("h5py") or not all(os.access(program, os.X_OK) for program in APPS.values()):
    print("skipped: no h5py, or not all mini-apps are built")
    sys.exit(77)


def general(path):
    for pattern, name in NAMED:
        path = re.sub(pattern, name, path)
    return path


def paths_of(value, name=""):
    """Of a record."""
    path = general(name)
    if name:
        yield path
    if isinstance(value, dict) and not path.endswith("/NAME"):
        for key, member in value.items():
            yield from paths_of(member, f"{name}/{key}".lstrip("/"))
    if isinstance(value, list):
        yield from (f"{path}[{column}]" for row in value if isinstance(row, dict) for column in row)


def names_in(result):
    """The paths of a file, and "region NAME" with its kind."""
    import h5py
    with h5py.File(result) as file:
        record = json.loads(file["run"][()])
        found = dict.fromkeys(paths_of(record), "")
        for top in "/fields", "/series":
            if top in file:
                found[top] = ""
                file[top].visit(lambda name, top=top: found.update({general(f"{top}/{name}"): ""}))
    return found | {f"region {row['region']}": row.get("kind", "") for row in record["timers"]}


class RecordPage(unittest.TestCase):
    def seen(self):
        """By name: the apps that have it, and the kind."""
        found = {}
        with tempfile.TemporaryDirectory(prefix="kontor-test-") as folder:
            for ranks, deck, settings in RUNS:
                app, words = deck.partition("/")[0], ["measure.repeats=1", "measure.calibrate=false", *settings.split()]
                command = [PLACE.mpirun, "-n", str(ranks), APPS[app],
                           ROOT / "inputs" / deck, "-q", "-o", "run.h5", *(f"--set={word}" for word in words)]
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
                self.assertIn(done.returncode, (0, 1), f"{deck}: {done.stdout}{done.stderr}")
                for name, kind in names_in(Path(folder, "run.h5")).items():
                    apps, _ = found.setdefault(name, (set(), kind))
                    apps.add(app)
        return found

    def test_the_page_has_what_runs_record(self):
        seen, rows, heading, region = self.seen(), set(), "", ""
        for line in PAGE.read_text(encoding="utf-8").splitlines():
            heading = line.split()[1] if line.startswith("## ") else heading
            region = "region " if line.startswith("| region |") else "" if line.startswith("| path |") else region
            if not line.startswith("| `"):
                continue
            cell, unit, where, text = [cell.strip() for cell in line.strip("|").split("|")]
            names = [region + name for name in re.findall("`([^`]+)`", cell)]
            rows.update(names)
            usual = {heading} if heading in APPS else set(APPS)
            listed = usual if not where else set(APPS) if where == "all" else set(where.split(", "))
            for name in names if listed <= set(APPS) else ():  # else it is a condition
                with self.subTest(name):
                    self.assertTrue(name in seen, "no run has it, and the column where has no condition")
                    apps, kind = seen[name]
                    self.assertEqual((listed, unit if region else "", bool(text)), (apps, kind, True))
        self.assertEqual(seen.keys() - rows, set(), "the page has no rows of these")


if __name__ == "__main__":
    unittest.main()

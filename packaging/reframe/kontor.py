# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ReFrame: the mini-apps by two backends, verified, their figures of merit read from the JSON record.

    KONTOR=/path/to/kontor reframe -c /path/to/kontor/packaging/reframe/kontor.py -r -S mode=test

KONTOR, by default the checkout of this file, has been built there (build/bin), or is a prefix of `cmake --install`.
ReFrame starts the ranks itself: `kontor run` is not used. `-S mode=measure` takes the full decks.
"""

import json
import os
import shlex
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_before, sanity_function, variable

KONTOR = Path(os.environ.get("KONTOR", Path(__file__).resolve().parents[2]))
PROGRAMS, DECKS = (
    (KONTOR / "build/bin", KONTOR / "inputs") if (KONTOR / "inputs").exists() else (KONTOR / "bin", KONTOR / "share/kontor/inputs")
)
VERIFIED = r"(?m)^VERIFICATION PASSED$"
RECORD = "record.json"
# Deck, and options of a test that takes seconds.
APPS = {
    "heat": ("heat/bandwidth", "--set problem.cells=[64,64]"),
    "cg": ("cg/hpcg-matrix", "--set problem.stencil.points=[12,12,12]"),
    "matmul": ("matmul/square", "--set problem.m=128 --set problem.n=128 --set problem.k=128"),
    "advection": ("advection/wave", "--set problem.cells=1000"),
    "dynamics": ("dynamics/bar", "--set problem.elements=[20,4,3] --set time.steps=50"),
    "pingpong": ("pingpong/halo", "--set problem.sizes.to=16 --set problem.repetitions=5"),
    "kernels": ("kernels/gram-schmidt", "--set problem.sizes=[4001] --set problem.repetitions=3"),
}


@rfm.simple_test
class KontorApp(rfm.RunOnlyRegressionTest):
    """A mini-app by a backend, verified by its output and by its record."""

    app = parameter(list(APPS))
    backend = parameter(["raw", "view"])
    mode = variable(str, value="test")
    ranks = variable(int, value=2)
    arguments = variable(str, value="")
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    @run_before("run")
    def set_command(self):
        deck, small = APPS[self.app]
        self.num_tasks = self.ranks
        # A program rejects another number of ranks than KONTOR_RANKS, as ReFrame's launcher "local" would start.
        self.env_vars = {"OMP_NUM_THREADS": "1", "KONTOR_RANKS": str(self.ranks)}
        self.executable = shlex.quote(str(PROGRAMS / self.app))
        self.executable_opts = [shlex.quote(str(DECKS / f"{deck}.yaml")), "--quiet", "--set", f"comm.backend={self.backend}",
                                "-o", "run.h5", "--results", RECORD]
        self.executable_opts += [*(small if self.mode == "test" else "").split(), *self.arguments.split()]

    def record(self):
        return json.loads((Path(self.stagedir) / RECORD).read_text())

    @sanity_function
    def is_verified(self):
        sn.evaluate(sn.assert_found(VERIFIED, self.stdout, f"not verified: {self.stderr} in {self.stagedir} may say why"))
        record = self.record()
        return sn.all([sn.assert_true(record["verification"]["passed"]), sn.assert_false(record["ended_early"])])

    @run_before("performance")
    def set_figures(self):
        """One performance variable a figure of merit of the record."""
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(merit["value"]), merit["unit"])
            for name, merit in self.record()["figures_of_merit"].items()
        }

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ReFrame: decks of heat, verified, with their figures of merit as performance variables.

    KONTOR=/path/to/kontor reframe -c /path/to/kontor/packaging/reframe/kontor.py -r

KONTOR, by default the one that has this file, is a checkout whose programs are built. ReFrame starts the ranks itself, so `kontor run` is not used.
"""

import json
import os
import shlex
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable

KONTOR = Path(os.environ.get("KONTOR", Path(__file__).resolve().parents[2]))
VERIFIED = r"(?m)^VERIFICATION PASSED$"
RECORD = "record.json"


@rfm.simple_test
class KontorHeat(rfm.RunOnlyRegressionTest):
    """A deck of heat by two backends, verified by what the program says and by its record."""

    deck = parameter(["plate", "bandwidth"])
    backend = parameter(["raw", "view"])
    ranks = variable(int, value=2)
    arguments = variable(str, value="")
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    @run_before("run")
    def set_command(self):
        self.num_tasks = self.ranks
        # With KONTOR_RANKS a program refuses to be fewer ranks, as it would be by ReFrame's launcher "local".
        self.env_vars = {"OMP_NUM_THREADS": "1", "KONTOR_RANKS": str(self.ranks)}
        self.executable = shlex.quote(str(KONTOR / "build/bin/heat"))
        self.executable_opts = [shlex.quote(str(KONTOR / f"inputs/heat/{self.deck}.yaml")), "--quiet", "--set", f"comm.backend={self.backend}",
                                "-o", "run.h5", "--results", RECORD, *self.arguments.split()]

    @sanity_function
    def is_verified(self):
        sn.evaluate(sn.assert_found(VERIFIED, self.stdout, f"not verified: {self.stderr} in {self.stagedir} may say why"))
        record = json.loads((Path(self.stagedir) / RECORD).read_text())
        return sn.all([sn.assert_true(record["verification"]["passed"]), sn.assert_false(record["ended_early"])])

    @performance_function("1/s")
    def cell_updates(self):
        return sn.extractsingle(r"(?m)^FOM cell_updates = (\S+) 1/s$", self.stdout, 1, float)

    @performance_function("B/s")
    def effective_bandwidth(self):
        return sn.extractsingle(r"(?m)^FOM effective_bandwidth = (\S+) B/s$", self.stdout, 1, float)

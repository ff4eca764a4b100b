# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that end early, that find no room, or whose answer is wrong.

tests/fault_injection has kills, full disks and failing calls; heat/tests has more wrong answers.
"""

import os
import platform
import shutil
import signal
import unittest
from pathlib import Path

from launch import FAULTS, HEAT, PLATE, ProgramTest, change, fault, set_, state_of, wait_for

MANY = "max_sweeps: 1000000000, check_every: 1000"
ENDLESS = change(PLATE, "[13, 11]", "[24, 24]", "max_sweeps: 5", MANY, "plate.h5}", "plate.h5, every: 100}")
EXACT = '  exact: "sin(pi*x)*sinh(pi*y)/sinh(pi)"\nsolver:'
SHORT = change(PLATE, "[13, 11]", "[96, 80]", "solver:", EXACT, "max_sweeps: 5", "max_sweeps: 20")
SHORT += "verification: {tolerance: 10}\n"
EARLIER = b"what an earlier run left"
RECORD = ("--quiet", "--results", "record.json")


class Ends(ProgramTest):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "plate.h5"
        self.output.write_bytes(EARLIER)
        self.write("short.yaml", SHORT)

    def assert_told_to_end(self, running, repeats, figures):
        """By USR1, as before a time limit: all ranks end, and leave a record that says so."""
        result = running.finish(limit=20)
        self.assertEqual(result.code, 4, result)
        self.assertRegex(result.out, rf"(?m)^ENDED EARLY: .*\bUSR1\b after {repeats} of \d+ repeats?$")
        self.assertEqual("FOM" in result.out, figures, result.out)
        record = self.record()
        self.assertEqual((record["ended_early"], record["end_signal"]), (True, "USR1"))
        self.assertEqual(bool(record["repeats"]), figures)
        self.assertEqual("figures_of_merit" in record, figures)
        self.assertEqual(record["verification"].get("passed", False), figures)
        self.assertEqual(self.output.read_bytes()[:4], b"\x89HDF")
        self.assertIsNone(self.temporary("plate.h5"))

    def test_one_rank_is_told_within_a_repeat(self):
        self.write("endless.yaml", ENDLESS)
        running = self.start("endless.yaml", *RECORD, ranks=3)
        written = lambda: (file := self.temporary("plate.h5")) and file.stat().st_size > 50_000
        wait_for("a series of fields", written)
        os.kill(running.ranks()[2], signal.SIGUSR1)
        self.assert_told_to_end(running, "0", figures=False)
        self.assertGreater(self.record()["sweeps"], 0)
        self.assertNotIn("plate.xmf", self.files())

    @unittest.skipUnless(FAULTS.exists(), "the library of tests/faults is not in this build")
    def test_told_between_repeats(self):
        """Those that are complete are verified, and have figures. Each has two sweeps, within which no rank asks for
        signals. Rank 0 stops itself in one of them until mpirun has passed the signal on."""
        many = set_("measure.repeats=1000", "solver.max_sweeps=2")
        pauses = fault("MPI_Allreduce", DO="pause", NUMBER=1000, RANK=0)
        running = self.start("short.yaml", *many, *RECORD, ranks=2, variables=pauses)
        stopped = lambda: state_of(running.ranks().get(0, 0)).startswith("T") or running.process.poll() is not None
        wait_for("a pause", stopped)
        rank = running.ranks()[0]
        running.process.send_signal(signal.SIGUSR1)
        pending = lambda: int(Path(f"/proc/{rank}/status").read_text().partition("ShdPnd:")[2].split()[0], 16)
        wait_for("the signal", lambda: pending() >> signal.SIGUSR1 - 1 & 1)
        os.kill(rank, signal.SIGCONT)
        self.assert_told_to_end(running, r"\d+", figures=True)

    @unittest.skipUnless(shutil.which("prlimit"), "no prlimit (util-linux)")
    def test_limit_of_file_sizes(self):
        self.program = shutil.which("prlimit")
        if self.start("--fsize=30000", HEAT, "--list-backends").finish(30).code != 0:
            self.skipTest("this MPI itself makes larger files")
        result = self.ends(3, "--fsize=30000", HEAT, "short.yaml")
        said = r"(?m)^output: plate\.h5: .*File too large.*; no file was replaced \[E-FILE-WRITE\]$"
        self.assertRegex(result.err, said)
        self.assertEqual(self.contents(), {"plate.h5": EARLIER, "short.yaml": SHORT.encode()})

    def test_a_problem_that_does_not_fit_into_memory(self):
        result = self.ends(3, "short.yaml", "--set", "problem.cells=[10000000,10000000]", ranks=3)
        self.names(result.err, "E-MEMORY", "rank 0 needs ", "of " + platform.node() + " has ", "1.6e+06 GB")

    def test_a_wrong_answer(self):
        """A boundary value that ceases to be finite is found at the end, in the field."""
        later = ("problem.equation=transient", "time.end=0.01", "solver.tolerance=auto", "solver.max_sweeps=1000000",
                 'problem.boundary.x_min={dirichlet: "t > 0.005 ? 1/(x-x) : 0"}')
        for settings, says in (
            (["verification.tolerance=0"], r"max \|u - exact\| is \S+, above the tolerance 0\.000e\+00"),
            (later, r"max \|u - exact\| is inf, above the tolerance 1\.000e\+01"),
        ):
            with self.subTest(settings):
                result = self.ends(1, "short.yaml", *set_(*settings), "--results", "record.json", ranks=2)
                self.assertRegex(result.out, rf"(?m)^VERIFICATION FAILED: {says} \[E-VERIFY\]$")
                self.assertNotRegex(result.out, "FOM|PASSED")
                self.assertRegex(result.err, r"\A(heat: sweep .*\n)*\Z")  # slow runs tell how far they are
                self.assertEqual(self.record()["verification"]["id"], "E-VERIFY")

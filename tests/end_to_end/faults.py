# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that end early, that find no room, or whose answer is wrong, and two that write the same file.

tests/fault_injection has kills, full disks, failing calls and `kontor run`; heat/tests has more wrong answers.
"""

import os
import platform
import shutil
import signal
import unittest

from launch import HEAT, HeatTest, wait_for
from refusal import PLATE, change

MANY = "max_sweeps: 1000000000, check_every: 1000"
ENDLESS = change(PLATE, "[13, 11]", "[24, 24]", "max_sweeps: 5", MANY, "plate.h5}", "plate.h5, every: 100}")
EXACT = '  exact: "sin(pi*x)*sinh(pi*y)/sinh(pi)"\nsolver:'
SHORT = change(PLATE, "[13, 11]", "[96, 80]", "solver:", EXACT, "max_sweeps: 5", "max_sweeps: 20")
SHORT += "verification: {tolerance: 10}\n"

EARLIER = b"what an earlier run left"


class FaultTest(HeatTest):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "plate.h5"
        self.output.write_bytes(EARLIER)

    def wait_for_series(self, size=50_000):
        """Until a run has written so many bytes of its fields."""
        written = lambda: (file := self.temporary("plate.h5")) and file.stat().st_size > size
        wait_for("a series of fields", written)

    def assert_intact(self):
        self.assertEqual(self.output.read_bytes(), EARLIER)
        self.assertNotIn("plate.xmf", self.files())


class ToldToEnd(FaultTest):
    """By a signal, as before a time limit: all ranks end, and leave a record that says so."""

    def assert_ended_early(self, result, signal, repeats, figures):
        self.assertEqual(result.code, 4, result)
        self.assertRegex(result.out, rf"(?m)^ENDED EARLY: .*\b{signal}\b after {repeats} of \d+ repeats?$")
        self.assertEqual("FOM" in result.out, figures, result.out)
        record = self.record()
        self.assertEqual((record["ended_early"], record["end_signal"]), (True, signal))
        self.assertEqual("figures_of_merit" in record, figures)
        self.assertEqual(record["verification"].get("passed", False), figures)
        self.assertEqual(self.output.read_bytes()[:4], b"\x89HDF")
        self.assertIsNone(self.temporary("plate.h5"))
        return record

    def test_within_a_repeat_one_rank_is_told(self):
        self.write("endless.yaml", ENDLESS)
        running = self.start("endless.yaml", "--quiet", "--results", "record.json", ranks=3)
        self.wait_for_series()
        os.kill(running.ranks()[2], signal.SIGUSR1)
        record = self.assert_ended_early(running.finish(limit=20), "USR1", "0", figures=False)
        self.assertEqual(record["repeats"], [])
        self.assertGreater(record["sweeps"], 0)
        self.assertNotIn("plate.xmf", self.files())

    def test_between_repeats(self):
        """Those that are complete are verified, and have figures."""
        self.write("short.yaml", SHORT)
        many = ("--set", "measure.repeats=1000", "--set", "solver.max_sweeps=3000", "--set", "output.every=200")
        for _ in range(8):
            running = self.start("short.yaml", *many, "--quiet", "--results", "record.json", ranks=2)
            self.wait_for_series(800_000)
            running.process.send_signal(signal.SIGUSR1)  # mpirun passes it on
            result = running.finish(limit=20)
            if "no answer is complete" not in result.out:
                break  # else the machine is so busy that a repeat took half a second, and the end came within one
        record = self.assert_ended_early(result, "USR1", r"\d+", figures=True)
        self.assertGreater(len(record["repeats"]), 0)


class TwoRuns(FaultTest):
    """A second run writes a file of the first, which rests meanwhile: both are whole, and the last is there."""

    def test_of_one_name(self):
        self.write("deck.yaml", SHORT)
        first = self.start("deck.yaml", "--results", "first.json", ranks=2)
        wait_for("the first run's files", lambda: self.temporary("first.json"))
        ranks = first.ranks()
        for pid in ranks.values():
            os.kill(pid, signal.SIGSTOP)
        try:
            self.passes("deck.yaml", "--set", "solver.max_sweeps=7", "--results", "second.json", ranks=3)
            self.assertEqual(self.record("second.json")["sweeps"], 7)
            self.assertIsNotNone(self.temporary("plate.h5"))
        finally:
            for pid in ranks.values():
                os.kill(pid, signal.SIGCONT)
        self.assertEqual(first.finish(limit=20).code, 0)
        self.assertEqual(self.record("first.json")["sweeps"], 20)
        self.assertRegex(self.output.read_bytes(), rb"(?s)\A\x89HDF.*Kontor2\n\Z")
        self.assertEqual(self.files(), ["deck.yaml", "first.json", "plate.h5", "plate.xmf", "second.json"])


@unittest.skipUnless(shutil.which("prlimit"), "no prlimit (util-linux)")
class FileSizeLimit(FaultTest):
    program = shutil.which("prlimit")

    def limited(self, limit, *arguments, ranks):
        return self.heat(f"--fsize={limit}", HEAT, *arguments, ranks=ranks)

    def test_is_an_error_that_is_told(self):
        self.write("short.yaml", SHORT)
        large = ("--set", "problem.cells=[1100,1000]", "--set", "solver.max_sweeps=1")
        cases = (30_000, 1, ()), (8_000_000, 3, large)
        for limit, ranks, arguments in cases:
            with self.subTest(ranks=ranks):
                if self.limited(limit, "--list-backends", ranks=ranks).code != 0:
                    continue  # this MPI itself makes larger files
                result = self.limited(limit, "short.yaml", *arguments, ranks=ranks)
                if "shared memory initialization" in result.err:
                    continue  # nor does this one, which says so while it runs
                self.assertEqual(result.code, 3, result)
                self.assertRegex(result.err, r"(?m)^output: plate\.h5: .*File too large.*; no file was replaced \[E-FILE-WRITE\]$")
                self.assert_intact()
                self.assertEqual(self.files(), ["plate.h5", "short.yaml"])


class OutOfMemory(FaultTest):
    def test_a_problem_that_does_not_fit(self):
        for ranks in 1, 3:
            self.write("deck.yaml", SHORT.replace("[96, 80]", "[10000000, 10000000]"))
            result = self.ends(3, "deck.yaml", ranks=ranks, limit=20)
            self.names(result.err, "E-MEMORY", "rank 0 needs ", "of " + platform.node() + " has ", "1.6e+06 GB")


class WrongAnswer(FaultTest):
    def test_what_is_told_and_recorded(self):
        """A boundary value that ceases to be finite is found at the end, in the field."""
        later = ("problem.equation=transient", "time.end=0.01", "solver.tolerance=auto", "solver.max_sweeps=1000000",
                 'problem.boundary.x_min={dirichlet: "t > 0.005 ? 1/(x-x) : 0"}')
        for settings, says in (
            (["verification.tolerance=0"], r"max \|u - exact\| is \S+, above the tolerance 0\.000e\+00"),
            (later, r"max \|u - exact\| is inf, above the tolerance 1\.000e\+01"),
        ):
            with self.subTest(settings):
                self.write("short.yaml", SHORT)
                words = [word for setting in settings for word in ("--set", setting)]
                result = self.ends(1, "short.yaml", *words, "--results", "record.json", ranks=2)
                self.assertRegex(result.out, rf"(?m)^VERIFICATION FAILED: {says} \[E-VERIFY\]$")
                self.assertNotRegex(result.out, "FOM|PASSED")
                self.assertRegex(result.err, r"\A(heat: sweep .*\n)*\Z")  # slow runs tell how far they are
                record = self.record()
                self.assertEqual((record["verification"]["passed"], record["verification"]["id"]), (False, "E-VERIFY"))
                self.assertFalse({"figure_of_merit", "figures_of_merit"} & set(record))

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that are told to end, and two that write the same file. tests/torture has kills and `kontor run`."""

import os
import signal

from fault_case import ENDLESS, SHORT, FaultTest
from launch import wait_until


class ToldToEnd(FaultTest):
    """By a signal, as before a time limit: all ranks end, and leave a record that says so."""

    def assert_ended_early(self, result, signal, repeats, figures):
        self.assertEqual(result.code, 4, result)
        self.assertRegex(result.out, rf"(?m)^ENDED EARLY: .*\b{signal}\b after {repeats} of \d+ repeats$")
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
        self.addCleanup(running.end)
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
            self.addCleanup(running.end)
            self.wait_for_series(800_000)
            running.process.send_signal(signal.SIGUSR1)  # mpirun passes it on
            result = running.finish(limit=20)
            if "no answer is complete" not in result.out:
                break  # else the machine is so busy that a repeat took half a second, and the end came within one
        record = self.assert_ended_early(result, "USR1", r"\d+", figures=True)
        self.assertGreater(len(record["repeats"]), 0)


class TwoRuns(FaultTest):
    """A second run that would write a file of the first, which rests meanwhile."""

    def test_the_second_is_refused_and_the_first_is_undisturbed(self):
        self.write("deck.yaml", SHORT)
        first = self.start("deck.yaml", "--results", "first.json", ranks=2)
        wait_until(lambda: self.temporary("first.json"), "the first run's files")
        ranks = first.ranks()
        for pid in ranks.values():
            os.kill(pid, signal.SIGSTOP)
        try:
            before = self.files()
            refused = {
                "plate.h5": (3, "--set", "solver.max_sweeps=7"),
                "plate.xmf": (1, "-o", "plate.hdf5"),
                "first.json": (2, "-o", "other.h5", "--results", "first.json"),
            }
            for name, (count, *arguments) in refused.items():
                with self.subTest(name, ranks=count):
                    second = self.heat("deck.yaml", *arguments, ranks=count, limit=10)
                    self.names(second.err, "E-FILE-LOCKED", f" {name}: ", f"process {ranks[0]} on host ")
                    self.assertEqual((second.out, second.code), ("", 2))
                    self.assertEqual(self.files(), before)
            for arguments in ("--results", "plate.h5"), ("--set", "problem.initial=1/(x-x)"), ("--set", "a=b"):
                self.assertEqual(self.heat("deck.yaml", *arguments).code, 2)
            self.assertEqual(self.files(), before)
        finally:
            for pid in ranks.values():
                os.kill(pid, signal.SIGCONT)
        result = first.finish(limit=20)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.record("first.json")["sweeps"], 20)
        self.assertEqual(self.output.read_bytes()[:4], b"\x89HDF")
        self.assertEqual(self.files(), ["deck.yaml", "first.json", "plate.h5", "plate.xmf"])

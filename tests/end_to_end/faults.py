# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that are killed, told to end or interrupted, and two that write the same file."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

from fault_case import EARLIER, ENDLESS, SHORT, FaultTest
from launch import HEAT, Running, wait_until


class Killed(FaultTest):
    def test_the_next_run_removes_what_a_killed_one_left(self):
        self.write("plate.h5.tmp", "the user's")
        self.write("endless.yaml", ENDLESS)
        running = self.start("endless.yaml", ranks=3)
        self.wait_for_series()
        os.kill(running.ranks()[0], signal.SIGKILL)
        result = running.finish(limit=20)
        self.assertNotEqual(result.code, 0, result)
        wait_until(lambda: not running.ranks(), "the end of all ranks")
        self.assert_intact()
        for left in "plate.h5", "plate.xmf":
            self.assertIsNotNone(self.temporary(left))
            self.assertIn(f".{left}.kontor-lock", self.files())
        self.write("short.yaml", SHORT)
        self.passes("short.yaml", ranks=3)
        self.assertEqual(self.files(), ["endless.yaml", "plate.h5", "plate.h5.tmp", "plate.xmf", "short.yaml"])
        self.assertEqual((self.folder / "plate.h5.tmp").read_text(), "the user's")


class Script(Running):
    """scripts/kontor run, and the ranks that it starts."""

    def __init__(self, *arguments, cwd):
        build = Path(HEAT).resolve().parents[1]
        script = Path(__file__).resolve().parents[2] / "scripts/kontor"
        self.launch([str(script), "run", *arguments], cwd, KONTOR_BUILD_DIR=str(build), KONTOR_BUILT="1")


class ScriptTest(FaultTest):
    def start_script(self, *arguments):
        """On three ranks, a run that has written several fields of its series."""
        self.write("endless.yaml", ENDLESS)
        running = Script("endless.yaml", "-n", "3", "--quiet", *arguments, cwd=self.folder)
        for end in running.end, running.process.stdout.close, running.process.stderr.close:
            self.addCleanup(end)
        self.wait_for_series()
        return running


class ToldToEnd(ScriptTest):
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

    def test_by_kontor_run(self):
        running = self.start_script("--results", "record.json")
        running.process.terminate()
        result = running.finish(limit=20)
        self.assert_ended_early(result, "USR1", "0", figures=False)
        self.assertRegex(result.err, r"\Akontor: heat ended early, as signal TERM asked\b.*\n\Z")
        if importlib.util.find_spec("h5py"):
            report = Path(__file__).resolve().parents[2] / "python/kontor"
            shown = subprocess.run([sys.executable, report, "report", self.output], capture_output=True, text=True, check=True).stdout
            self.assertRegex(shown, r"not verified\n.*ended early.*\bUSR1\b")


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


class Interrupted(ScriptTest):
    """Whatever ends `kontor run`, no rank outlives it."""

    def test_by_a_kill(self):
        running = self.start_script()
        running.process.kill()
        self.assertEqual(running.finish(limit=20).code, -signal.SIGKILL)
        wait_until(lambda: not running.ranks(), "the end of all ranks")
        if self.output.read_bytes() == EARLIER:
            self.assert_intact()
            return
        import h5py  # Open MPI 5 hands the SIGTERM on that tells mpirun, and the ranks end early with a record

        with h5py.File(self.output) as file:
            self.assertEqual(file["run"].attrs["ended_early"], 1)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""heat's checkpoints: after a signal, a kill, a time limit and on a full disk, and what is refused."""

import json
import os
import signal
import unittest

from fault_case import ENDLESS, ENOSPC, FaultTest
from launch import PINGPONG, wait_until


class Checkpoints(FaultTest):
    """A run that is stopped goes on from a checkpoint, on other ranks, with the same bits."""

    DECK = ENDLESS.replace("check_every: 1000}", "check_every: 10}").replace(", every: 100}", "}") + "checkpoint: {file: c.h5}\n"
    LIMIT = ("--set", "solver.max_sweeps=2000")

    def setUp(self):
        super().setUp()
        self.write("deck.yaml", self.DECK)

    def checkpoints(self):
        return sorted(path.name for path in self.folder.glob("c-*.h5"))

    def norms(self, *arguments, ranks):
        self.passes(*arguments, *self.LIMIT, "--quiet", "--results", "record.json", ranks=ranks)
        record = json.loads((self.folder / "record.json").read_text())
        return record["history"]["iteration"], record["history"]["norm"], record

    def wait_for_checkpoints(self, count):
        wait_until(lambda: len(self.checkpoints()) >= count, "a checkpoint")

    def test_after_a_signal_and_after_a_kill(self):
        expected = self.norms("deck.yaml", ranks=1)
        running = self.start("deck.yaml", "--set", "checkpoint.every=300", "--set", "checkpoint.keep=1000", ranks=3)
        self.addCleanup(running.end)
        self.wait_for_checkpoints(1)
        os.kill(running.ranks()[2], signal.SIGUSR1)
        result = running.finish(limit=30)
        self.assertEqual(result.code, 4, result)
        newest = self.checkpoints()[-1]
        self.assertRegex(result.out, rf"(?m)^ENDED EARLY: .*\bUSR1\b.*: scripts/kontor run {newest} --restart$")
        *_, record = self.norms("--restart", "c-000000300.h5", "--set", "comm.backend=view", ranks=2)
        self.assertEqual((record["checkpoint"]["restarted_from"], record["checkpoint"]["at_step"]), ("c-000000300.h5", 300))
        self.assertEqual((record["history"]["iteration"], record["history"]["norm"]), expected[:2])
        for path in self.folder.glob("c-*.h5"):
            path.unlink()

        running = self.start("deck.yaml", "--set", "checkpoint.every=100", "--set", "checkpoint.keep=1000", ranks=2)
        self.addCleanup(running.end)
        self.wait_for_checkpoints(3)
        os.kill(running.ranks()[0], signal.SIGKILL)
        self.assertNotEqual(running.finish(limit=30).code, 0)
        kept = [name for name in self.checkpoints() if name > "c-000000300.h5"]
        for name in kept:  # beyond the limit below
            (self.folder / name).unlink()
        newest = self.folder / self.checkpoints()[-1]
        damaged = bytearray(newest.read_bytes())
        damaged[3000] ^= 1
        newest.write_bytes(damaged)
        *_, record = self.norms("deck.yaml", "--restart", "c.h5", ranks=3)
        self.assertEqual(record["checkpoint"]["at_step"], 200)
        self.assertEqual((record["history"]["iteration"], record["history"]["norm"]), expected[:2])
        self.assertEqual([name for name in self.files() if name.endswith((".tmp", ".kontor-lock"))], [])

    def test_in_time_before_the_limit(self):
        result = self.heat("deck.yaml", "--set", "checkpoint.walltime=0:12", "--quiet", ranks=2, limit=60)
        self.assertEqual(result.code, 4, result)
        self.assertRegex(result.out, r"(?m)^ENDED EARLY: told to end by checkpoint\.walltime after 0 of 1 repeats; .*\bc-\d{9,}\.h5\b")
        self.assertGreater(len(self.checkpoints()), 0)

    def test_what_is_refused(self):
        self.norms("deck.yaml", "--set", "checkpoint.every=1500", ranks=1)
        name = self.checkpoints()[0]
        other = {
            ("problem.cells=[24,25]",): r"problem\.cells is \[24, 25\]; in c-000001500\.h5 it is \[24, 24\]",
            ("problem.precision=float",): r"problem\.precision is float; in c-000001500\.h5 it is double",
            ("solver.max_sweeps=1500",): r"1500 sweeps are to be made, .*c-000001500\.h5 are 1500",
            ("checkpoint.walltime=1:99",): r"checkpoint\.walltime is '1:99'; allowed are HH:MM:SS",
            ("output.file=c.h5", "checkpoint.file=c.h5"): r"c\.h5 cannot be both",
        }
        for settings, said in other.items():
            with self.subTest(settings):
                arguments = [word for setting in settings for word in ("--set", setting)]
                result = self.heat("deck.yaml", "--restart", name, *arguments)
                self.assertEqual(result.code, 2, result)
                self.assertRegex(result.err, said)
        result = self.heat("--restart", "none.h5", ranks=2)
        self.assertEqual(result.code, 2, result)
        self.assertIn("none.h5", result.err)
        self.write("pingpong.yaml", "app: pingpong\ncheckpoint: {seconds: 5}\n")
        self.program = PINGPONG
        result = self.heat("pingpong.yaml")
        self.assertEqual(result.code, 2, result)
        self.assertRegex(result.err, r"pingpong\.yaml:2:\d+: checkpoint\.seconds is 5, but pingpong writes no checkpoints")

    def test_files_elsewhere_are_named_by_the_command_line_only(self):
        """A deck in a checkpoint may come from anybody."""
        (self.folder / "there").mkdir()
        once = ("deck.yaml", "--set", "checkpoint.every=1500", "--quiet")
        self.norms(*once, "-o", "there/plate.h5", ranks=1)
        result = self.heat("--restart", "c-000001500.h5", ranks=2)
        self.assertEqual(result.code, 2, result)
        self.assertRegex(result.err, r"output\.file is there/plate\.h5, neither in this folder nor in that of the checkpoint; say -o FILE, .*/there\n")
        self.norms("--restart", "c-000001500.h5", "-o", "there/plate.h5", ranks=1)
        (self.folder / "c-000001500.h5").rename(self.folder / "there/c-000001500.h5")
        self.norms("--restart", "there/c-000001500.h5", ranks=1)  # beside the checkpoint
        self.norms(*once, "--set", "checkpoint.file=there/c.h5", ranks=1)
        (self.folder / "there/c-000001500.h5").rename(self.folder / "c-000001500.h5")
        result = self.heat("--restart", "c-000001500.h5", "-o", "plate.h5")
        self.assertEqual(result.code, 2, result)
        self.assertRegex(result.err, r"checkpoint\.file is there/c\.h5, neither .*; say --set checkpoint\.file=FILE, .*/there\n")

    def test_a_full_disk(self):
        """The checkpoints that there are stay."""
        if not os.path.exists(ENOSPC):
            self.skipTest("KONTOR_ENOSPC does not name the library of output/tests/enospc.c")
        preloaded = ":".join(filter(None, [ENOSPC, os.environ.get("LD_PRELOAD")]))
        variables = {"LD_PRELOAD": preloaded, "KONTOR_FAULT_AFTER": "30000", "KONTOR_FAULT_FILE": "c.h5."}
        result = self.heat(
            "deck.yaml", *self.LIMIT, "--set", "checkpoint.every=500", "--set", "checkpoint.keep=9", ranks=2, variables=variables
        )
        self.assertEqual(result.code, 3, result)
        self.assertRegex(result.err, r"(?m)^checkpoint after step \d+: output: c\.h5: .*No space left on device")
        whole = self.checkpoints()
        self.assert_intact()
        self.assertEqual(self.files(), [*whole, "deck.yaml", "plate.h5"])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""heat's checkpoints: after a signal and a time limit, and what is refused. A run that is stopped resumes from a
checkpoint, on other ranks, with the same bits. tests/fault_injection has kills and full disks."""

import json
import os
import re
import signal

from ends import ENDLESS, RECORD
from launch import CG, ProgramTest, set_, wait_for

DECK = ENDLESS.replace("check_every: 1000}", "check_every: 10}").replace(", every: 100}", "}")
LIMIT = ("--set", "solver.max_sweeps=2000")
LOCAL = """\
app: heat
problem: {cells: [12, 10], local: true, boundary: {y_max: {dirichlet: "sin(pi*x)"}}}
solver: {tolerance: 0, max_sweeps: 40, check_every: 10}
output: {file: plate.h5, fields: none}
"""
SHARE = LOCAL.replace("local: true", "memory_share: 1.0e-4")


class Checkpoints(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("deck.yaml", DECK + "checkpoint: {seconds: 1000}\n")

    def run_to(self, *arguments, ranks):
        """The record of a run that must be verified."""
        self.passes(*arguments, *RECORD, ranks=ranks)
        return self.record()

    def assert_told(self, running, name, words):
        """That a run ended early by this signal, and which checkpoint is the newest. Its record."""
        result = running.finish(limit=60)
        self.assertEqual(result.code, 4, result)
        self.assertRegex(result.out, rf"(?m)^ENDED EARLY: .*\b{name}\b.*{words}")
        record = self.record()
        self.assertEqual((record["end_signal"], record["checkpoint"]["newest"]), (name, self.checkpoints()[-1]))
        return record

    def test_after_a_signal(self):
        expected = self.run_to("deck.yaml", *LIMIT, ranks=1)["history"]
        first = "plate-checkpoint-000000300.h5"
        many = set_("checkpoint.every=300", "checkpoint.keep=1000")
        for how, ranks, words in (signal.SIGUSR1, 3, ()), (signal.SIGTERM, 2, ("deck.yaml",)):
            with self.subTest(signal=how.name):
                for name in self.checkpoints():
                    (self.folder / name).unlink()
                running = self.start("deck.yaml", *many, *RECORD, ranks=ranks)
                wait_for("a checkpoint", self.checkpoints)
                os.kill(running.ranks()[ranks - 1], how)
                self.assert_told(running, how.name[3:], r": scripts/kontor run plate-checkpoint-\d+\.h5 --restart$")
                record = self.run_to(*words, "--restart", first, *LIMIT, "--set", "comm.backend=view", ranks=ranks - 1)
                told = record["checkpoint"]
                self.assertEqual((told.get("restarted_from"), told.get("at_step")), (first, 300))
                self.assertEqual([record["history"][key] for key in ("iteration", "norm")],
                                 [expected[key] for key in ("iteration", "norm")])

    def test_in_time_before_the_limit(self):
        """Which the run is to keep: the seconds here are no performance. The limit of the start does not end it."""
        limit = 8  # a checkpoint at half time, and some 3 s kept for the end
        quick = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}  # which takes seconds
        words = (*set_(f"checkpoint.walltime={limit}"), *RECORD)
        running = self.start("deck.yaml", *words, ranks=2, variables={**quick, "KONTOR_START_SECONDS": "3"})
        words = r"after 0 of 1 repeats?; .*\bplate-checkpoint-\d{9,}\.h5\b"
        record = self.assert_told(running, "walltime", words)
        step = record["checkpoint"]["steps"][-1]
        restart = ("--restart", "plate-checkpoint.h5", *set_(f"solver.max_sweeps={step + 20}"))
        record = self.run_to("deck.yaml", *restart, ranks=1)
        self.assertEqual((record["checkpoint"]["at_step"], record["sweeps"]), (step, step + 20))

    def test_what_is_refused(self):
        """And that the output of a restart is that of the first run."""
        (self.folder / "there").mkdir()
        words = ("deck.yaml", *LIMIT, *set_("checkpoint.every=1500"), "-o", "there/plate.h5")
        told = (record := self.run_to(*words, ranks=1))["checkpoint"]
        name = "there/plate-checkpoint-000001500.h5"
        self.assertEqual(told["newest"], name)
        self.assertAlmostEqual(told["overhead"] * sum(record["repeats"]), told["seconds"], delta=1e-6 * told["seconds"])
        (self.folder / "there/plate.h5").unlink()
        self.run_to("--restart", name, *LIMIT, ranks=1)
        self.assertTrue((self.folder / "there/plate.h5").exists())
        for setting, *facts in (
            ("problem.cells=[24,25]", "problem.cells", "[24, 25]", "[24, 24]"),
            ("solver.max_sweeps=1500", "1500 sweeps", "solver.max_sweeps"),
        ):
            words = ("--restart", name, "--set", setting)
            self.refused("E-CHECKPOINT-DECK", name, *facts, words=words, deck=DECK)
        self.refused("E-CHECKPOINT-NONE", "none.h5", first=("--restart", "none.h5"), ranks=2)
        self.program = CG
        self.refused("E-DECK-APP", name, "'heat'", "'cg'", first=("--restart", name))

    def test_sizes(self):
        """Of a rank and of a share of memory: checkpoints have the plain sizes that a run had."""
        self.write("deck.yaml", LOCAL)
        deck = self.run_to("deck.yaml", *set_("checkpoint.every=20", "checkpoint.keep=9"), ranks=2)["deck"]
        cells = json.loads(re.search(r"(?m)^  cells: (\[.*\])$", deck)[1])
        restart = ("--restart", checkpoint := self.checkpoints()[0], "--set", "solver.max_sweeps=60")
        self.assertEqual(self.run_to(*restart, ranks=3)["cells"], cells)
        self.assertEqual(self.run_to("deck.yaml", *restart, ranks=2)["cells"], cells)
        for text, ranks, *facts in (
            (LOCAL, 3, "problem.cells", "[36, 10]", "[24, 10]"), (SHARE, 2, "problem.memory_share", checkpoint),
        ):
            self.refused("E-CHECKPOINT-DECK", "deck.yaml:2:", *facts, deck=text, words=restart, ranks=ranks)

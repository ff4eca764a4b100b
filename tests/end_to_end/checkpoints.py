# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""heat's checkpoints: after a signal and a time limit, and what is refused. tests/fault_injection has kills and full disks."""

import json
import os
import re
import signal

from faults import ENDLESS, FaultTest
from launch import CG, HeatTest, wait_for

LOCAL = """\
app: heat
problem: {cells: [12, 10], local: true, boundary: {y_max: {dirichlet: "sin(pi*x)"}}}
solver: {tolerance: 0, max_sweeps: 40, check_every: 10}
output: {file: plate.h5, fields: none}
"""
SHARE = LOCAL.replace("local: true", "memory_share: 1.0e-4")
CHECKPOINTS = ("--set", "checkpoint.every=20", "--set", "checkpoint.keep=9")


def cells_of(deck):
    return json.loads(re.search(r"(?m)^  cells: (\[.*\])$", deck)[1])


class Checkpoints(FaultTest):
    """A run that is stopped resumes from a checkpoint, on other ranks, with the same bits."""

    DECK = ENDLESS.replace("check_every: 1000}", "check_every: 10}").replace(", every: 100}", "}") + "checkpoint: {seconds: 1000}\n"
    LIMIT = ("--set", "solver.max_sweeps=2000")

    def setUp(self):
        super().setUp()
        self.write("deck.yaml", self.DECK)

    def norms(self, *arguments, ranks):
        self.passes(*arguments, *self.LIMIT, "--quiet", "--results", "record.json", ranks=ranks)
        record = self.record()
        return record["history"]["iteration"], record["history"]["norm"], record

    def wait_for_checkpoints(self, count):
        wait_for("a checkpoint", lambda: len(self.checkpoints()) >= count)

    def test_after_a_signal(self):
        expected = self.norms("deck.yaml", ranks=1)[:2]
        for how, ranks, words in (signal.SIGUSR1, 3, ("--restart", "plate-checkpoint-000000300.h5")), (signal.SIGTERM, 2, ("deck.yaml", "--restart", "plate-checkpoint-000000300.h5")):
            with self.subTest(signal=how.name):
                for path in self.folder.glob("*-checkpoint-*.h5"):
                    path.unlink()
                many = ("--set", "checkpoint.every=300", "--set", "checkpoint.keep=1000")
                running = self.start("deck.yaml", *many, "--results", "record.json", ranks=ranks)
                self.wait_for_checkpoints(1)
                os.kill(running.ranks()[ranks - 1], how)
                result = running.finish(limit=30)
                self.assertEqual(result.code, 4, result)
                name, newest = how.name.removeprefix("SIG"), self.checkpoints()[-1]
                self.assertRegex(result.out, rf"(?m)^ENDED EARLY: .*\b{name}\b.*: scripts/kontor run {newest} --restart$")
                record = self.record()
                self.assertEqual((record["end_signal"], record["checkpoint"]["newest"]), (name, newest))
                *found, record = self.norms(*words, "--set", "comm.backend=view", ranks=ranks - 1)
                self.assertEqual((record["checkpoint"].get("restarted_from"), record["checkpoint"].get("at_step")), ("plate-checkpoint-000000300.h5", 300))
                self.assertEqual(tuple(found), expected)

    def test_in_time_before_the_limit(self):
        """Which the run is to keep: the seconds here are no performance."""
        limit = 8  # a checkpoint at half time, and some 3 s kept for the end
        quick = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}  # which takes seconds at the end
        running = self.start("deck.yaml", "--set", f"checkpoint.walltime={limit}", "--quiet", "--results", "record.json", ranks=2, variables=quick)
        result = running.finish(limit=60)
        self.assertEqual(result.code, 4, result)
        self.assertRegex(result.out, r"(?m)^ENDED EARLY: checkpoint\.walltime after 0 of 1 repeat; .*\bplate-checkpoint-\d{9,}\.h5\b")
        record = self.record()
        self.assertEqual((record["end_signal"], record["checkpoint"]["newest"]), ("walltime", self.checkpoints()[-1]))
        step = record["checkpoint"]["steps"][-1]
        rest = ("--set", f"solver.max_sweeps={step + 20}", "--quiet", "--results", "record.json")
        self.passes("deck.yaml", "--restart", "plate-checkpoint.h5", *rest)
        record = self.record()
        self.assertEqual((record["checkpoint"]["at_step"], record["sweeps"]), (step, step + 20))

    def test_what_is_refused(self):
        self.norms("deck.yaml", "--set", "checkpoint.every=1500", ranks=1)
        name = self.checkpoints()[0]
        other = {
            ("problem.cells=[24,25]",): ("E-CHECKPOINT-DECK", "problem.cells", "[24, 25]", "plate-checkpoint-000001500.h5", "[24, 24]"),
            ("problem.precision=float",): ("E-CHECKPOINT-DECK", "problem.precision", "float", "plate-checkpoint-000001500.h5", "double"),
            ("solver.max_sweeps=1500",): ("E-CHECKPOINT-DECK", "1500 sweeps", "plate-checkpoint-000001500.h5", "solver.max_sweeps"),
            ("checkpoint.walltime=1:99",): ("E-DECK-TYPE", "checkpoint.walltime", "'1:99'", "HH:MM:SS"),
            ("checkpoint.file=c.h5",): ("E-DECK-KEY", "checkpoint.file is unknown; did you mean output.file?"),
            ("restart=c.h5",): ("E-DECK-KEY", "restart is unknown"),
        }
        for settings, facts in other.items():
            with self.subTest(settings):
                arguments = [word for setting in settings for word in ("--set", setting)]
                result = self.ends(2, "deck.yaml", "--restart", name, *arguments)
                self.names(result.err, *facts)
        result = self.ends(2, "--restart", "none.h5", ranks=2)
        self.names(result.err, "E-CHECKPOINT-NONE", "none.h5")
        self.program = CG
        self.write("cg.yaml", "app: cg\nproblem: {stencil: {points: [5, 5, 5]}}\n")
        for arguments in (), ("cg.yaml",):
            result = self.heat(*arguments, "--restart", name, ranks=2)
            self.assertEqual((result.code, result.out), (2, ""), result)
            self.names(result.err, "E-DECK-APP" if not arguments else "E-CHECKPOINT-DECK", "plate-checkpoint-000001500.h5", "'heat'", "'cg'")

    def test_output_is_that_of_the_first_run(self):
        (self.folder / "there").mkdir()
        name = "plate-checkpoint-000001500.h5"
        *_, record = self.norms("deck.yaml", "--set", "checkpoint.every=1500", "-o", "there/plate.h5", ranks=1)
        told = record["checkpoint"]
        self.assertEqual(told["newest"], f"there/{name}")
        self.assertAlmostEqual(told["overhead"] * sum(record["repeats"]), told["seconds"], delta=1e-6 * told["seconds"])
        (self.folder / "there/plate.h5").unlink()
        self.norms("--restart", f"there/{name}", ranks=1)
        self.assertTrue((self.folder / "there/plate.h5").exists())


class Sizes(HeatTest):
    """Of a rank and of a share of memory: checkpoints have the plain sizes that a run had."""

    def deck_of(self, text, *arguments, ranks):
        """The deck in the record of a run."""
        self.write("deck.yaml", text)
        self.passes("deck.yaml", *arguments, "--quiet", "--results", "record.json", ranks=ranks)
        return self.record()["deck"]

    def test_a_restart_has_the_sizes_of_its_checkpoint(self):
        deck = self.deck_of(LOCAL, *CHECKPOINTS, ranks=2)
        checkpoint = self.checkpoints()[0]
        more = ("--set", "solver.max_sweeps=60", "--quiet", "--results", "record.json")
        self.passes("--restart", checkpoint, *more, ranks=3)
        self.assertEqual(self.record()["cells"], cells_of(deck))
        self.passes("deck.yaml", "--restart", checkpoint, *more, ranks=2)
        self.assertEqual(self.record()["cells"], cells_of(deck))
        result = self.ends(2, "deck.yaml", "--restart", checkpoint, *more, ranks=3)
        for fact in "deck.yaml:2:", "problem.cells", "[36, 10]", "[24, 10]":
            self.assertIn(fact, result.err)
        self.write("deck.yaml", SHARE)
        result = self.ends(2, "deck.yaml", "--restart", checkpoint, ranks=2)
        for fact in "deck.yaml:2:", "problem.memory_share", checkpoint:
            self.assertIn(fact, result.err)

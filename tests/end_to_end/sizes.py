# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of a rank and of a share of memory: checkpoints have the plain sizes that a run had. kontor-fuzz reads printed decks again."""

import json
import re

from launch import HeatTest

LOCAL = """\
app: heat
problem: {cells: [12, 10], local: true, boundary: {y_max: {dirichlet: "sin(pi*x)"}}}
solver: {tolerance: 0, max_sweeps: 40, check_every: 10}
output: {file: plate.h5, fields: none}
"""
SHARE = LOCAL.replace("local: true", "memory_share: 1.0e-4")
CHECKPOINTS = ("--set", "checkpoint.every=20", "--set", "checkpoint.file=c.h5", "--set", "checkpoint.keep=9")


def cells_of(deck):
    return json.loads(re.search(r"(?m)^  cells: (\[.*\])$", deck)[1])


class Sizes(HeatTest):
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

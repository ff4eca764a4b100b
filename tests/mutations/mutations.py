# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes, one at a time, each of which must fail the verification of every deck that has the ingredient.

The mistakes are those of communication.cpp and <app>.cpp. A row of TABLE is one of them, with how it is run; decks that
it cannot touch are named with the reason, and are not run.
"""

import os
import re
import sys
import unittest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "end_to_end"))

from launch import HeatTest  # noqa: E402

MUTANT = os.environ.get("KONTOR_MUTANT", str(ROOT / "build" / "tests" / "mutations" / "heat_mutant"))
APP = Path(MUTANT).name.removesuffix("_mutant")


class Row(NamedTuple):
    mutation: str
    grid: str = ""  # along which axis heat's cells are cut
    without: dict = {}  # deck: why the mistake is none there


PERIODIC = "all its faces are periodic"
CONVERGES = "sweeps to a tolerance come to the same answer with some older halos"
NO_NORM = "it computes no norm"
LARGER = "the largest change, which is its norm, is the other rank's"
NO_EXCHANGE = "SUMMA broadcasts, and nothing is redistributed"
NO_FACES = "gpu", "hpcg-matrix", "matrix-market", "pipelined", "plain", "poisson7", "quarter-memory", "reproducible"
NO_BROADCAST = "block-cyclic", "gpu", "plain", "prime", "square", "tall"
HEALED = {"cube": CONVERGES, "plate": CONVERGES, "nvidia-jacobi": "judged by its last sweep"}
TABLE = {
    "heat": [
        Row("receives", "x"),
        Row("receives", "y"),
        Row("receive:0", "y"),
        Row("exchange", "x", without=HEALED),
        Row("elsewhere", "x"),
        Row("reduction:0", "x", without={"bandwidth": NO_NORM, "cube": LARGER, "weak": NO_NORM}),
        Row("coefficient", "x"),
        Row("boundary:0", "x", without=dict.fromkeys(("bandwidth", "plain", "weak"), PERIODIC)),
    ],
    "advection": [Row("receives")],
    "cg": [
        Row("receives"),
        Row("receive:1"),
        Row("exchange"),
        Row("reduction:1"),
        Row("coefficient"),
        Row("rhs"),
        Row("boundary:1", without=dict.fromkeys(NO_FACES, "it has no boundary")),
    ],
    "matmul": [
        Row("receives", without={"outer": NO_EXCHANGE, "summa": NO_EXCHANGE}),
        Row("exchange", without={"outer": NO_EXCHANGE, "summa": NO_EXCHANGE}),
        Row("broadcast", without=dict.fromkeys(NO_BROADCAST, "it broadcasts nothing")),
    ],
}


class Deck:
    def __init__(self, path):
        self.name = path.stem
        self.path = str(path)
        self.text = path.read_text()
        self.options = self.line("test").split()
        self.ranks = int(self.line("ranks", "2").split()[-1])

    def line(self, key, default=""):
        found = re.search(f"(?m)^# {key}: (.*)$", self.text)
        return found[1] if found else default

    def grid(self, axis):
        """Two ranks along that axis."""
        if not axis:
            return []
        axes = re.search(r"\n  cells: \[(.*)\]", self.text)[1].count(",") + 1
        return ["--set", f"decomposition.process_grid=[{','.join('2' if 'xyz'[a] == axis else '1' for a in range(axes))}]"]


class Mutations(HeatTest):
    program = MUTANT
    rows = TABLE[APP]
    decks = [Deck(path) for path in sorted((ROOT / "inputs" / APP).glob("*.yaml"))]

    def run_deck(self, deck, grid, mutation):
        fixed = ["--quiet", "-o", "mutant.h5", "--set", "comm.backend=view", "--set", "measure.repeats=1"]
        variables = {"KONTOR_MUTATION": mutation} if mutation else {}
        return self.heat(
            deck.path, *fixed, *deck.options, *deck.grid(grid), ranks=deck.ranks, limit=120, variables=variables
        )

    def test_right_ones_pass(self):
        for grid in sorted({row.grid for row in self.rows}):
            for deck in self.decks:
                with self.subTest(deck=deck.name, grid=grid):
                    self.assertEqual((result := self.run_deck(deck, grid, "")).code, 0, result)

    def test_wrong_ones_fail(self):
        for row in self.rows:
            self.assertLessEqual(set(row.without), {deck.name for deck in self.decks}, row)
            for deck in self.decks:
                if deck.name in row.without:
                    continue
                with self.subTest(mutation=row.mutation, deck=deck.name, grid=row.grid):
                    result = self.run_deck(deck, row.grid, row.mutation)
                    self.assertEqual(result.code, 1, result)
                    self.assertRegex(result.out, r"(?m)^VERIFICATION (FAILED|INCONCLUSIVE): ")
                    self.assertNotIn("FOM", result.out)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes, one at a time, each of which must fail the verification of every deck that has the ingredient.

The mistakes are those of communication.cpp and <app>.cpp. The tables of mutations.md list them, and the decks that cannot
show one of them, which are not run.
"""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "end_to_end"))

from launch import HeatTest  # noqa: E402

MUTANT = os.environ.get("KONTOR_MUTANT", str(ROOT / "build" / "tests" / "mutations" / "heat_mutant"))
APP = Path(MUTANT).name.removesuffix("_mutant")


class Row(NamedTuple):
    """A line of the table of mutations.md."""

    mutation: str
    grid: str  # along which axis heat's cells are cut
    without: set  # names of decks


def rows_of(app):
    page = (ROOT / "tests/mutations/mutations.md").read_text()
    lines = page.split(f"\n## {app}\n")[1].split("\n#")[0]
    found = re.findall(r"(?m)^\| `([a-z:0-9]+)`(?:, cut along ([xyz]))? \| [^|]+ \|([^|]*)\|$", lines)
    return [Row(mutation, grid, set(re.findall("`(.*?)`", without))) for mutation, grid, without in found]


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
    rows = rows_of(APP)
    decks = [Deck(path) for path in sorted((ROOT / "inputs" / APP).glob("*.yaml"))]

    def run_deck(self, deck, grid, mutation):
        file = f"{deck.name}{grid}-{mutation.replace(':', '')}.h5"  # of each run its own
        fixed = ["--quiet", "-o", file, "--set", "comm.backend=view", "--set", "measure.repeats=1"]
        variables = {"KONTOR_MUTATION": mutation} if mutation else {}
        return self.heat(
            deck.path, *fixed, *deck.options, *deck.grid(grid), ranks=deck.ranks, limit=120, variables=variables
        )

    def run_all(self, runs):
        """Each run with its result. Several are under way at a time, for mpirun mostly waits."""
        with ThreadPoolExecutor(3) as pool:
            yield from zip(runs, pool.map(lambda run: self.run_deck(*run), runs))

    def test_right_ones_pass(self):
        grids = sorted({row.grid for row in self.rows})
        for (deck, grid, _), result in self.run_all([(deck, grid, "") for grid in grids for deck in self.decks]):
            with self.subTest(deck=deck.name, grid=grid):
                self.assertEqual(result.code, 0, result)

    def test_wrong_ones_fail(self):
        self.assertTrue(self.rows)
        for row in self.rows:
            self.assertLessEqual(row.without, {deck.name for deck in self.decks}, row)
        wrong = [(d, row.grid, row.mutation) for row in self.rows for d in self.decks if d.name not in row.without]
        for (deck, grid, mutation), result in self.run_all(wrong):
            with self.subTest(mutation=mutation, deck=deck.name, grid=grid):
                self.assertEqual(result.code, 1, result)
                self.assertRegex(result.out, r"(?m)^VERIFICATION (FAILED|INCONCLUSIVE): ")
                self.assertNotIn("FOM", result.out)

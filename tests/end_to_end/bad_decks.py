# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in a deck."""

import unittest

from refusal import PLATE, RefusalTest, change

SWEEPS = "solver: {tolerance: 0, max_sweeps: 5}"
STEPS = "  equation: transient\n"
CORNER = '"(x > 0.95 && y > 0.95) ? 1/(x-x) : 0"'  # the last rank's alone, however the cells are divided
AT_CORNER = "x = 0.961538, y = 0.954545, z = 0, t = 0"
AT_FIRST = "x = 0.0384615, y = 0.0454545, z = 0, t = 0"
MAX_SWEEPS = "6:36: solver.max_sweeps"


class OneKey(RefusalTest):
    def test_keys_and_values(self):
        self.refused_when("cells:", "cels:", "E-DECK-KEY", "deck.yaml:3:3: problem.cels", "problem.cells?", ranks=(1, 2))
        for old, new, error_id, place, *facts in (
            ("max_sweeps: 5", "max_sweeps: 5.5", "E-DECK-TYPE", MAX_SWEEPS, 'found "5.5"', "an integer of at least 1"),
            ("[13, 11]", "[13, 0]", "E-DECK-RANGE", "3:15: problem.cells[1]", 'found "0"', "from 1 to 1099511627776"),
            ("[13, 11]", "[13]", "E-DECK-RANGE", "3:10: problem.cells", "found a list of 1", "2 to 3 integers"),
            ("solver:", "problem: {}\nsolver:", "E-DECK-KEY", "6:1: problem", "deck.yaml:2:1"),
            ("max_sweeps: 5", r'max_sweeps: "\e[2J"', "E-DECK-TYPE", MAX_SWEEPS, r'found "\x1b[2J"'),
            ("app: heat", "app: cg", "E-DECK-APP", "1:6: app", "'cg'", "'heat'"),
            ("11]", "11", "E-DECK-SYNTAX", "4:11: "),
            ("tolerance: 0", "tolerance: -1", "E-DECK-RANGE", "6:21: solver.tolerance", 'found "-1"'),
            ("cells:", "precision: half\n  cells:", "E-DECK-WORD", "3:14: problem.precision", '"half"', "float or double"),
        ):
            self.refused_when(old, new, error_id, f"deck.yaml:{place}", *facts)


class Text(RefusalTest):
    def test_empty(self):
        self.refused("E-DECK-SYNTAX", "deck.yaml: ", deck="")

    def test_aliases_of_aliases(self):
        """Ten million values in 300 bytes."""
        bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        for name, inner in zip("bcdefg", "abcdef"):
            bomb += f"{name}: &{name} [{', '.join(10 * ['*' + inner])}]\n"
        self.refused("E-DECK-LIMIT", "deck.yaml:11:32: ", "10000 keys and values", deck=PLATE + bomb)

    def test_many_mistakes(self):
        listed = [f"deck.yaml:{n + 8}:1: wrong_{n} " for n in range(20)]
        wrong = "".join(f"wrong_{n}: {n}\n" for n in range(3000))
        self.refused("E-DECK-KEY", *listed, "2980 more", deck=PLATE + wrong, lines=21)

    def test_all_mistakes_at_once(self):
        deck = change(PLATE, "cells: [13, 11]", 'cels: [13, 11]\n  precision: half\n  initial: "2*"')
        places = "deck.yaml:3:3: problem.cels", "deck.yaml:4:14: problem.precision", "deck.yaml:5:12: problem.initial"
        ids = "[E-DECK-KEY]\n", "[E-DECK-WORD]\n", "[E-DECK-EXPRESSION]\n"
        self.refused("E-DECK-KEY", *places, *ids, deck=deck, ranks=(2,), lines=3)


class Expressions(RefusalTest):
    RANKS = (2,)  # each looks at its own cells

    def not_finite(self, old, new, place, at, **others):
        self.refused_when(old, new, "E-DECK-EXPRESSION", f"deck.yaml:{place} ", f" is inf at {at}", **others)

    def test_malformed(self):
        place = "deck.yaml:5:24: problem.boundary.y_max.dirichlet"
        for formula, fact in ('"sin(pi*x"', "parenthesis"), ('"sin(pi*r)"', "r is unknown at position 8"):
            self.refused_when('"sin(pi*x)"', formula, "E-DECK-EXPRESSION", place, f"found {formula}", fact, ranks=(1,))

    def test_not_finite(self):
        for key, formula, at in (
            ("initial", '"1/(x-x)"', AT_FIRST), *((key, CORNER, AT_CORNER) for key in ("initial", "source", "exact")),
        ):
            self.not_finite("cells:", f"{key}: {formula}\n  cells:", f"3:{len(key) + 5}: problem.{key} {formula}", at)

    def test_an_exact_solution_that_is_not_finite_is_found_before_the_run(self):
        """This run would take hours."""
        deck = change(PLATE, "max_sweeps: 5", "max_sweeps: 1000000000, check_every: 0")
        deck = change(deck, "cells:", f"exact: {CORNER}\n  cells:")
        self.refused("E-DECK-EXPRESSION", "deck.yaml:3:10: problem.exact", AT_CORNER, deck=deck)

    def test_not_finite_on_a_face(self):
        at = "x = 0.961538, y = 1, z = 0, t = 0"
        self.not_finite('"sin(pi*x)"', CORNER, f"5:5: problem.boundary.y_max {CORNER}", at)

    def test_not_finite_later(self):
        formula = '"t > 0.05 ? 1/(x-x) : 0"'
        self.not_finite(SWEEPS, f"{STEPS}  source: {formula}", "7:11: problem.source", AT_FIRST + ".0507692")


class SeveralKeys(RefusalTest):
    def test_what_does_not_go_together(self):
        boundary = "  boundary:"
        for old, new, error_id, place, *facts in (
            (SWEEPS, STEPS + "solver: {tolerance: 1.0e-3}", "E-DECK-CONFLICT", "7:21: solver.tolerance", "0.001", "steady"),
            (SWEEPS, STEPS + "solver: {max_sweeps: 5}", "E-DECK-CONFLICT", "7:22: solver.max_sweeps", "5", "steady"),
            (SWEEPS, STEPS + "time: {step: 0.01}", "E-DECK-RANGE", "7:14: time.step", "0.01", "0.00172414"),
            (SWEEPS, STEPS + "time: {end: 0.05, step: 1.0e-300}", "E-DECK-RANGE", "7:13: time.end", "5e+298", "1e+12"),
            ("solver:", "    z_min: {neumann: 1}\nsolver:", "E-DECK-CONFLICT", "6:5: problem.boundary.z_min", "problem.cells"),
            (boundary, boundary + "\n    x_min: periodic", "E-DECK-CONFLICT",
             "5:12: problem.boundary.x_min", "problem.boundary.x_max"),
            (boundary, "  domain: {lower: [0, 2], upper: [1, 1]}\n  boundary:", "E-DECK-CONFLICT",
             "4:38: problem.domain.upper[1]", "problem.domain.lower[1]"),
            (boundary, "  domain: {upper: [1, 1.0e+200]}\n  boundary:", "E-DECK-RANGE",
             "4:23: problem.domain.upper[1]", "1e+200", "1e+150"),
            (boundary, "  domain: {upper: [1, 1, 1]}\n  boundary:", "E-DECK-CONFLICT",
             "4:19: problem.domain.upper", "3", "problem.cells", "2"),
        ):
            self.refused_when(old, new, error_id, f"deck.yaml:{place}", *facts)

    def test_too_many_cells(self):
        facts = "deck.yaml:3:10: problem.cells", "[100000000, 100000000]", "1e+15"
        self.refused_when("[13, 11]", "[100000000, 100000000]", "E-DECK-RANGE", *facts, ranks=(1, 2))

    def test_steady_without_a_fixed_value(self):
        deck = change(PLATE, "tolerance: 0", "tolerance: 1.0e-3")
        deck = change(deck, '    y_max: {dirichlet: "sin(pi*x)"}\n', "")
        faces = "".join(f"    {face}: {{neumann: 0}}\n" for face in ("x_min", "x_max", "y_min", "y_max"))
        deck = change(deck, "boundary:\n", "boundary:\n" + faces)
        self.refused("E-DECK-CONFLICT", "deck.yaml:4:3: problem.boundary", "dirichlet", "solver.tolerance", deck=deck)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in a deck. config/tests has those of a key alone."""

from refusal import PLATE, RefusalTest, change

SWEEPS = "solver: {tolerance: 0, max_sweeps: 5}"
STEPS = "  equation: transient\n"
CORNER = '"(x > 0.95 && y > 0.95) ? 1/(x-x) : 0"'  # the last rank's alone, however the cells are divided
AT_CORNER = "x = 0.961538, y = 0.954545, z = 0, t = 0"
AT_FIRST = "x = 0.0384615, y = 0.0454545, z = 0, t = 0"


class Keys(RefusalTest):
    def test_one_mistake(self):
        self.refused_when("cells:", "cels:", "E-DECK-KEY", "deck.yaml:3:3: problem.cels", "problem.cells?", ranks=(1, 2))
        self.refused_when("app: heat", "app: cg", "E-DECK-APP", "deck.yaml:1:6: app", "'cg'", "'heat'")

    def test_all_mistakes_at_once(self):
        deck = change(PLATE, "cells: [13, 11]", 'cels: [13, 11]\n  precision: half\n  initial: "2*"')
        places = "deck.yaml:3:3: problem.cels", "deck.yaml:4:14: problem.precision", "deck.yaml:5:12: problem.initial"
        ids = "[E-DECK-KEY]\n", "[E-DECK-WORD]\n", "[E-DECK-EXPRESSION]\n"
        self.refused("E-DECK-KEY", *places, *ids, deck=deck, ranks=(2,), lines=3)


class Expressions(RefusalTest):
    RANKS = (2,)  # each looks at its own cells

    def test_not_finite(self):
        """In a field, on a face, and later."""
        later = '"t > 0.05 ? 1/(x-x) : 0"'
        for old, new, place, at in (
            ("cells:", 'initial: "1/(x-x)"\n  cells:', '3:12: problem.initial "1/(x-x)"', AT_FIRST),
            *(("cells:", f"{key}: {CORNER}\n  cells:", f"3:{len(key) + 5}: problem.{key} {CORNER}", AT_CORNER)
              for key in ("initial", "source", "exact")),
            ('"sin(pi*x)"', CORNER, f"5:5: problem.boundary.y_max {CORNER}", "x = 0.961538, y = 1, z = 0, t = 0"),
            (SWEEPS, f"{STEPS}  source: {later}", "7:11: problem.source", AT_FIRST + ".0507692"),
        ):
            self.refused_when(old, new, "E-DECK-EXPRESSION", f"deck.yaml:{place} ", f" is inf at {at}")


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
        self.refused_when("[13, 11]", "[100000000, 100000000]", "E-DECK-RANGE", *facts)

    def test_steady_without_a_fixed_value(self):
        faces = "".join(f"    {face}: {{neumann: 0}}\n" for face in ("x_min", "x_max", "y_min", "y_max"))
        deck = change(PLATE, "tolerance: 0", "tolerance: 1.0e-3", '    y_max: {dirichlet: "sin(pi*x)"}\n', faces)
        self.refused("E-DECK-CONFLICT", "deck.yaml:4:3: problem.boundary", "dirichlet", "solver.tolerance", deck=deck)

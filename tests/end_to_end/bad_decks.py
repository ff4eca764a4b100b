# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in a deck."""

import unittest

from refusal import PLATE, RefusalTest, change

FUNCTIONS = (
    "abs, acos, acosh, asin, asinh, atan, atan2, atanh, avg, cos, cosh, exp, ln, log, log10, log2, "
    "max, min, rint, sign, sin, sinh, sqrt, sum, tan, tanh"
)
SWEEPS = "solver: {tolerance: 0, max_sweeps: 5}"


class OneKey(RefusalTest):
    def test_keys_and_values(self):
        says = "deck.yaml:3:3: problem.cels is unknown; did you mean problem.cells?"
        self.refused_when("cells:", "cels:", says, ranks=(1, 3))
        sweeps = "6:36: solver.max_sweeps expects an integer of at least 1"
        for old, new, says in (
            ("max_sweeps: 5", "max_sweeps: 5.5", f'{sweeps}, found "5.5"'),
            ("[13, 11]", "[13, 0]", '3:15: problem.cells[1] expects an integer from 1 to 1099511627776, found "0"'),
            ("[13, 11]", "[13]", "3:10: problem.cells expects a list of 2 to 3 integers, found a list of 1"),
            ("solver:", "problem: {}\nsolver:", "6:1: problem is given twice; the first is at deck.yaml:2:1"),
            ("max_sweeps: 5", r'max_sweeps: "\e[2J"', rf'{sweeps}, found "\x1b[2J"'),
            ("app: heat", "app: cg", "1:6: app is 'cg', but this program is 'heat'"),
            ("11]", "11", "4:11: malformed YAML: end of sequence flow not found"),
        ):
            self.refused_when(old, new, f"deck.yaml:{says}")


class Text(RefusalTest):
    def test_empty(self):
        self.refused("deck.yaml: the deck is empty", deck="")

    def test_aliases_of_aliases(self):
        """Ten million values in 300 bytes."""
        bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        for name, inner in zip("bcdefg", "abcdef"):
            bomb += f"{name}: &{name} [{', '.join(10 * ['*' + inner])}]\n"
        self.refused(
            "deck.yaml:11:32: the deck has more than 10000 keys and values here; this is the most that it may have, "
            "each alias counting as all that it stands for",
            deck=PLATE + bomb,
        )

    def test_many_mistakes(self):
        known = "app, problem, solver, time, decomposition, warm_up, verification, comm, measure, output, checkpoint, restart"
        listed = "".join(f"deck.yaml:{n + 8}:1: wrong_{n} is unknown; known here: {known}\n" for n in range(20))
        wrong = "".join(f"wrong_{n}: {n}\n" for n in range(3000))
        self.refused(listed + "and 2980 more mistakes, which are not listed", deck=PLATE + wrong, ranks=[1])

    def test_all_mistakes_at_once(self):
        deck = change(PLATE, "cells: [13, 11]", 'cels: [13, 11]\n  precision: half\n  initial: "2*"')
        self.refused(
            "deck.yaml:3:3: problem.cels is unknown; did you mean problem.cells?\n"
            'deck.yaml:4:14: problem.precision expects float or double, found "half"\n'
            'deck.yaml:5:12: problem.initial expects an expression of x, y and z, found "2*": it ends too early',
            deck=deck,
            ranks=(3,),
        )


class Expressions(RefusalTest):
    RANKS = (3,)  # each looks at its own cells

    def test_malformed(self):
        expects = "deck.yaml:5:24: problem.boundary.y_max.dirichlet expects an expression of x, y, z and t, found "
        for formula, says in (
            ('"sin(pi*x"', "a parenthesis is not closed; inside {...} and [...] a formula with a comma stands in quotes"),
            ('"sin(pi*r)"', f"r is unknown at position 8; known are x, y, z, t, pi and the functions {FUNCTIONS}"),
        ):
            self.refused_when('"sin(pi*x)"', formula, f"{expects}{formula}: {says}", ranks=(1,))

    # The corner is the last rank's alone, however the cells are divided.
    CORNER = '"(x > 0.95 && y > 0.95) ? 1/(x-x) : 0"'

    def not_finite(self, place, key, formula, point):
        return f"deck.yaml:{place}: problem.{key} {formula} is inf at {point}; it must be finite in the whole domain"

    def test_not_finite(self):
        first, corner = "x = 0.0384615, y = 0.0454545, z = 0, t = 0", "x = 0.961538, y = 0.954545, z = 0, t = 0"
        for key, formula, point in (
            ("initial", '"1/(x-x)"', first), *((key, self.CORNER, corner) for key in ("initial", "source", "exact")),
        ):
            says = self.not_finite(f"3:{len(key) + 5}", key, formula, point)
            self.refused_when("cells:", f"{key}: {formula}\n  cells:", says)

    def test_an_exact_solution_that_is_not_finite_is_found_before_the_run(self):
        """This run would take hours."""
        deck = change(PLATE, "max_sweeps: 5", "max_sweeps: 1000000000, check_every: 0")
        deck = change(deck, "cells:", f"exact: {self.CORNER}\n  cells:")
        corner = "x = 0.961538, y = 0.954545, z = 0, t = 0"
        self.refused(self.not_finite("3:10", "exact", self.CORNER, corner), deck=deck)

    def test_not_finite_on_a_face(self):
        on_face = "x = 0.961538, y = 1, z = 0, t = 0"
        self.refused_when('"sin(pi*x)"', self.CORNER, self.not_finite("5:5", "boundary.y_max", self.CORNER, on_face))

    def test_not_finite_later(self):
        formula = '"t > 0.05 ? 1/(x-x) : 0"'
        self.refused_when(
            SWEEPS,
            f"  equation: transient\n  source: {formula}",
            self.not_finite("7:11", "source", formula, "x = 0.0384615, y = 0.0454545, z = 0, t = 0.0507692"),
        )


class SeveralKeys(RefusalTest):
    def test_what_does_not_go_together(self):
        unused = "not used: problem.equation must be steady for that; leave it out"
        steps = "  equation: transient\n"
        for old, new, says in (
            (SWEEPS, steps + "solver: {tolerance: 1.0e-3}", f"7:21: solver.tolerance is 0.001, but {unused}"),
            (SWEEPS, steps + "solver: {max_sweeps: 5}", f"7:22: solver.max_sweeps is 5, but {unused}"),
            (SWEEPS, steps + "time: {step: 0.01}",
             "7:14: time.step is 0.01, above the largest stable step 0.00172414 = 1 / (2 alpha sum 1/h^2); "
             "choose a smaller one, or auto"),
            (SWEEPS, steps + "time: {end: 0.05, step: 1.0e-300}",
             "7:13: time.end is 0.05, which takes 5e+298 steps; at most 1e+12 are possible. "
             "Choose an earlier end, or a longer time.step"),
            ("solver:", "    z_min: {neumann: 1}\nsolver:",
             '6:5: problem.boundary.z_min is {neumann: "1"}, but not used: '
             "problem.cells must have three extents for that; leave it out"),
            ("  boundary:", "  boundary:\n    x_min: periodic",
             "5:12: problem.boundary.x_min is periodic, but problem.boundary.x_max is not; both ends of an axis must be"),
            ("  boundary:", "  domain: {lower: [0, 2], upper: [1, 1]}\n  boundary:",
             "4:38: problem.domain.upper[1] is 1, which is not above problem.domain.lower[1], 2"),
            ("  boundary:", "  domain: {upper: [1, 1, 1]}\n  boundary:",
             "4:19: problem.domain.upper has length 3; that of problem.cells is 2"),
        ):
            self.refused_when(old, new, f"deck.yaml:{says}")

    def test_too_many_cells(self):
        says = "deck.yaml:3:10: problem.cells [100000000, 100000000] are 1e+16 cells; at most 1e+15 are possible"
        self.refused_when("[13, 11]", "[100000000, 100000000]", says, ranks=(1, 3))

    def test_steady_without_a_fixed_value(self):
        deck = change(PLATE, "tolerance: 0", "tolerance: 1.0e-3")
        deck = change(deck, '    y_max: {dirichlet: "sin(pi*x)"}\n', "")
        faces = "".join(f"    {face}: {{neumann: 0}}\n" for face in ("x_min", "x_max", "y_min", "y_max"))
        self.refused(
            "deck.yaml:4:3: problem.boundary has no dirichlet face, so a steady solution is not unique; give one, "
            "or set solver.tolerance to 0 for a fixed number of sweeps",
            deck=change(deck, "boundary:\n", "boundary:\n" + faces),
        )


if __name__ == "__main__":
    unittest.main()

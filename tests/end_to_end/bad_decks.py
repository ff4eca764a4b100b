# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in a deck."""

import unittest

from refusal import PLATE, RefusalTest, change

FUNCTIONS = (
    "abs, acos, acosh, asin, asinh, atan, atan2, atanh, avg, cos, cosh, exp, ln, log, log10, log2, "
    "max, min, rint, sign, sin, sinh, sqrt, sum, tan, tanh"
)


class OneKey(RefusalTest):
    def test_unknown(self):
        says = "deck.yaml:3:3: problem.cels is unknown; did you mean problem.cells?"
        self.refused_when("cells:", "cels:", says, ranks=(1, 3))

    def test_wrong_type(self):
        self.refused_when(
            "max_sweeps: 5",
            "max_sweeps: 5.5",
            'deck.yaml:6:36: solver.max_sweeps expects an integer of at least 1, found "5.5"',
        )

    def test_out_of_range(self):
        self.refused_when(
            "[13, 11]",
            "[13, 0]",
            'deck.yaml:3:15: problem.cells[1] expects an integer from 1 to 1099511627776, found "0"',
        )

    def test_wrong_length(self):
        self.refused_when(
            "[13, 11]", "[13]", "deck.yaml:3:10: problem.cells expects a list of 2 to 3 integers, found a list of 1"
        )

    def test_given_twice(self):
        self.refused_when(
            "solver:", "problem: {}\nsolver:", "deck.yaml:6:1: problem is given twice; the first is at deck.yaml:2:1"
        )


class Text(RefusalTest):
    def test_malformed_yaml(self):
        self.refused_when("11]", "11", "deck.yaml:4:11: malformed YAML: end of sequence flow not found")

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

    def test_control_characters(self):
        self.refused_when(
            "max_sweeps: 5", r'max_sweeps: "\e[2J"',
            r'deck.yaml:6:36: solver.max_sweeps expects an integer of at least 1, found "\x1b[2J"',
        )

    def test_other_app(self):
        self.refused_when("app: heat", "app: cg", "deck.yaml:1:6: app is 'cg', but this program is 'heat'")

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
        self.refused_when(
            '"sin(pi*x)"',
            '"sin(pi*x"',
            "deck.yaml:5:24: problem.boundary.y_max.dirichlet expects an expression of x, y, z and t, "
            'found "sin(pi*x": a parenthesis is not closed; inside {...} and [...] a formula with a comma stands in quotes',
            ranks=(1,),
        )

    def test_unknown_variable(self):
        self.refused_when(
            '"sin(pi*x)"',
            '"sin(pi*r)"',
            "deck.yaml:5:24: problem.boundary.y_max.dirichlet expects an expression of x, y, z and t, "
            f'found "sin(pi*r)": r is unknown at position 8; known are x, y, z, t, pi and the functions {FUNCTIONS}',
            ranks=(1,),
        )

    # The corner is the last rank's alone, however the cells are divided.
    CORNER = '"(x > 0.95 && y > 0.95) ? 1/(x-x) : 0"'

    def not_finite(self, place, key, formula, point):
        return f"deck.yaml:{place}: problem.{key} {formula} is inf at {point}; it must be finite in the whole domain"

    def test_not_finite(self):
        self.refused_when(
            "cells:",
            'initial: "1/(x-x)"\n  cells:',
            self.not_finite("3:12", "initial", '"1/(x-x)"', "x = 0.0384615, y = 0.0454545, z = 0, t = 0"),
        )

    def test_not_finite_at_one_cell(self):
        corner = "x = 0.961538, y = 0.954545, z = 0, t = 0"
        for key in "initial", "source", "exact":
            place = f"3:{len(key) + 5}"
            self.refused_when(
                "cells:", f"{key}: {self.CORNER}\n  cells:", self.not_finite(place, key, self.CORNER, corner)
            )

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


SWEEPS = "solver: {tolerance: 0, max_sweeps: 5}"


class SeveralKeys(RefusalTest):
    def test_sweeps_of_steps(self):
        for key, value, place in ("tolerance", "1.0e-3", 21), ("max_sweeps", "5", 22):
            self.refused_when(
                SWEEPS,
                f"  equation: transient\nsolver: {{{key}: {value}}}",
                f"deck.yaml:7:{place}: solver.{key} is {float(value) if place == 21 else value}, but not used: problem.equation must be steady for "
                "that; leave it out",
            )

    def test_step_above_the_stable_one(self):
        self.refused_when(
            SWEEPS,
            "  equation: transient\ntime: {step: 0.01}",
            "deck.yaml:7:14: time.step is 0.01, above the largest stable step 0.00172414 = 1 / (2 alpha sum 1/h^2); "
            "choose a smaller one, or auto",
        )

    def test_too_many_steps(self):
        self.refused_when(
            SWEEPS,
            "  equation: transient\ntime: {end: 0.05, step: 1.0e-300}",
            "deck.yaml:7:13: time.end is 0.05, which takes 5e+298 steps; at most 1e+12 are possible. Choose an earlier "
            "end, or a longer time.step",
        )

    def test_a_face_that_is_not_there(self):
        self.refused_when(
            "solver:",
            "    z_min: {neumann: 1}\nsolver:",
            'deck.yaml:6:5: problem.boundary.z_min is {neumann: "1"}, but not used: problem.cells must have three extents '
            "for that; leave it out",
        )

    def test_too_many_cells(self):
        self.refused_when(
            "[13, 11]",
            "[100000000, 100000000]",
            "deck.yaml:3:10: problem.cells [100000000, 100000000] are 1e+16 cells; at most 1e+15 are possible",
            ranks=(1, 3),
        )

    def test_periodic_at_one_end(self):
        self.refused_when(
            "  boundary:",
            "  boundary:\n    x_min: periodic",
            "deck.yaml:5:12: problem.boundary.x_min is periodic, but problem.boundary.x_max is not; "
            "both ends of an axis must be",
        )

    def test_steady_without_a_fixed_value(self):
        deck = change(PLATE, "tolerance: 0", "tolerance: 1.0e-3")
        deck = change(deck, '    y_max: {dirichlet: "sin(pi*x)"}\n', "")
        faces = "".join(f"    {face}: {{neumann: 0}}\n" for face in ("x_min", "x_max", "y_min", "y_max"))
        self.refused(
            "deck.yaml:4:3: problem.boundary has no dirichlet face, so a steady solution is not unique; give one, "
            "or set solver.tolerance to 0 for a fixed number of sweeps",
            deck=change(deck, "boundary:\n", "boundary:\n" + faces),
        )

    def test_upper_below_lower(self):
        self.refused_when(
            "  boundary:",
            "  domain: {lower: [0, 2], upper: [1, 1]}\n  boundary:",
            "deck.yaml:4:38: problem.domain.upper[1] is 1, which is not above problem.domain.lower[1], 2",
        )

    def test_domain_of_other_dimensions(self):
        self.refused_when(
            "  boundary:",
            "  domain: {upper: [1, 1, 1]}\n  boundary:",
            "deck.yaml:4:19: problem.domain.upper has length 3; that of problem.cells is 2",
        )


if __name__ == "__main__":
    unittest.main()

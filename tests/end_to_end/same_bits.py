# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The field in the file is the same to the bit, however it was computed."""

import unittest

from recorded import RecordTest

STEADY_2D = """\
app: heat
problem:
  cells: [19, 14]
  domain: {lower: [-1, 0], upper: [1, 2]}
  initial: "cos(3*x)*y"
  source: "x*y + 1"
  boundary:
    x_min: {dirichlet: "exp(y)"}
    x_max: {neumann: "sin(y)"}
    y_min: {neumann: 0.5}
    y_max: {dirichlet: "x*x"}
solver: {tolerance: 4.0e-4, check_every: 7, norm: max}
"""

TRANSIENT_2D = """\
app: heat
problem:
  equation: transient
  cells: [17, 23]
  initial: "sin(2*pi*y)*x"
  source: "sin(10*t)*x"
  boundary:
    x_min: {dirichlet: "t*y"}
    x_max: {neumann: "cos(t)"}
    y_min: periodic
    y_max: periodic
time: {end: 0.02}
"""

STEADY_3D = """\
app: heat
problem:
  cells: [9, 8, 11]
  initial: "x*y*z"
  boundary:
    x_min: periodic
    x_max: periodic
    y_min: {dirichlet: "sin(2*pi*x)*z"}
    y_max: {neumann: 1}
    z_min: {neumann: "x"}
    z_max: {dirichlet: "y"}
solver: {tolerance: 0, max_sweeps: 25, norm: l2}
"""

TRANSIENT_3D = """\
app: heat
problem:
  equation: transient
  cells: [7, 10, 9]
  diffusivity: 0.5
  initial: "x + 2*y + 3*z*z"
  boundary:
    x_min: {neumann: "y*t"}
    x_max: {dirichlet: "z"}
    y_min: {dirichlet: 0}
    y_max: {dirichlet: "t"}
    z_min: periodic
    z_max: periodic
time: {end: 0.02}
"""

# ranks, process grid or None, other keys
IN_2D = [
    (2, None, {}),
    (3, [1, 3], {"comm.packing": "none", "comm.overlap": "false", "solver.stores": "ordinary"}),
    (4, [2, 2], {"comm.backend": "view", "comm.packing": "datatype", "solver.stores": "streaming"}),
]
IN_3D = [
    (2, None, {"solver.stores": "streaming", "comm.packing": "kernel"}),
    (4, [2, 1, 2], {"comm.backend": "view", "comm.packing": "datatype", "solver.stores": "streaming"}),
    (3, [1, 3, 1], {"comm.overlap": "false", "solver.stores": "ordinary"}),
]


class SameBits(RecordTest):
    def field(self, deck, ranks, grid, keys):
        if grid:
            keys = {**keys, "decomposition.process_grid": grid}
        overrides = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
        with self.run_deck(deck, "out.h5", "-q", *overrides, ranks=ranks) as file:
            return file["/fields/temperature"][...]

    def check(self, deck, precision, ways):
        """heat_same_bits compares fields in memory by the other precision, and in all other ways."""
        alone = self.field(deck, 1, None, {"problem.precision": precision, "comm.overlap": "false"})
        self.assertEqual(alone.dtype.itemsize, {"double": 8, "float": 4}[precision])
        self.assertGreater(len(set(alone.flat)), alone.size // 2, "a field that could hide differences")
        for ranks, grid, keys in ways:
            with self.subTest(precision=precision, ranks=ranks, grid=grid, **keys):
                field = self.field(deck, ranks, grid, {"problem.precision": precision, **keys})
                self.assertEqual(field.shape, alone.shape)
                bits = f"u{alone.dtype.itemsize}"
                self.assertEqual((field.view(bits) != alone.view(bits)).sum(), 0, "cells that differ")


class TwoDimensions(SameBits):
    def test_steady(self):
        self.check(STEADY_2D, "double", IN_2D)

    def test_transient(self):
        self.check(TRANSIENT_2D, "float", IN_2D)


class ThreeDimensions(SameBits):
    def test_steady(self):
        self.check(STEADY_3D, "float", IN_3D)

    def test_transient(self):
        self.check(TRANSIENT_3D, "double", IN_3D)


if __name__ == "__main__":
    unittest.main()

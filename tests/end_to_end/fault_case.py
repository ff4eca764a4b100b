# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs to which something happens: their decks, and the file of an earlier run that they must leave alone."""

from launch import HeatTest, wait_until

ENDLESS = """\
app: heat
problem:
  cells: [24, 24]
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
solver: {tolerance: 0, max_sweeps: 1000000000, check_every: 1000}
output: {file: plate.h5, every: 100}
"""

SHORT = """\
app: heat
problem:
  cells: [96, 80]
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
  exact: "sin(pi*x)*sinh(pi*y)/sinh(pi)"
solver: {tolerance: 0, max_sweeps: 20}
verification: {tolerance: 10}
output: {file: plate.h5}
"""

EARLIER = b"what an earlier run left"


class FaultTest(HeatTest):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "plate.h5"
        self.output.write_bytes(EARLIER)

    def wait_for_series(self, size=50_000):
        """Until a run has written so many bytes of its fields."""
        written = lambda: (file := self.temporary("plate.h5")) and file.stat().st_size > size
        wait_until(written, "a series of fields")

    def assert_intact(self):
        self.assertEqual(self.output.read_bytes(), EARLIER)
        self.assertNotIn("plate.xmf", self.files())

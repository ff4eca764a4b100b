# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs whose HDF5 file h5py reads."""

import json
import math
import unittest

from launch import HeatTest

try:
    import h5py
except ImportError:
    h5py = None

PLATE = """\
app: heat
problem:
  cells: [26, 22]
  domain: {upper: [1, 0.5]}
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
  exact: "sin(pi*x)*sinh(pi*y)/sinh(pi/2)"
solver: {tolerance: 1.0e-9, check_every: 50}
measure: {repeats: 2}
output: {file: plate.h5}
"""


@unittest.skipIf(h5py is None, "this python has no h5py")
class RecordTest(HeatTest):
    def run_deck(self, text, name, *arguments, ranks=2, **overrides):
        """Runs the deck; its file, open until the test ends. `said`: the run's result."""
        self.write("deck.yaml", text)
        keys = [word for key, value in overrides.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]
        self.said = self.passes("deck.yaml", "-o", name, *arguments, *keys, ranks=ranks)
        return self.open(name)

    def open(self, name):
        """The file, open until the test ends."""
        file = h5py.File(self.folder / name)
        self.addCleanup(file.close)
        return file

    def run_of(self, *arguments, **options):
        """The record of a run as run_deck() makes it."""
        return json.loads(self.run_deck(*arguments, **options)["run"][()])

    def numbers_of(self, item):
        """Those of a data item of XDMF, which are as it says; an image's have all extents in one."""
        name, path = item.text.split(":")
        data = self.open(name)[path]
        self.assertEqual(data.size, math.prod(int(n) for n in item.get("Dimensions").split()))
        self.assertEqual((data.dtype.kind, data.dtype.itemsize), (item.get("NumberType")[0].lower(), int(item.get("Precision"))))
        return data[...]

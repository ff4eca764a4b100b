# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fields in the HDF5 file, and the files and groups that describe them."""

import xml.etree.ElementTree as xml

from recorded import PLATE, RecordTest, h5py

if h5py:
    import numpy as np

CUBE = """\
app: heat
problem:
  cells: [12, 10, 8]
  boundary:
    y_max: {dirichlet: "sin(pi*x)*sin(pi*z)"}
  exact: "sin(pi*x)*sin(pi*z)*sinh(sqrt(2)*pi*y)/sinh(sqrt(2)*pi)"
solver: {tolerance: 1.0e-9}
output: {file: cube.h5}
"""

DIFFUSION = """\
app: heat
problem:
  equation: transient
  cells: [16, 12]
  initial: "sin(pi*x)*sin(pi*y)"
  exact: "exp(-2*pi*pi*t)*sin(pi*x)*sin(pi*y)"
time: {end: 0.05, step: 0.001}
output: {file: diffusion.h5}
"""


def centres(cells, lower, upper):
    step = (upper - lower) / cells
    return lower + step * (np.arange(cells) + 0.5)


class Fields(RecordTest):
    def test_2d(self):
        file = self.run_deck(PLATE, "plate.h5")
        field = file["/fields/temperature"]
        x, y = centres(26, 0, 1)[None, :], centres(22, 0, 0.5)[:, None]
        self.assertEqual(field.shape, (22, 26))
        exact = np.sin(np.pi * x) * np.sinh(np.pi * y) / np.sinh(np.pi / 2)
        self.assertLess(np.abs(field - exact).max(), 5e-3)
        self.check_vtkhdf(file, [0, 26, 0, 22, 0, 1], [1 / 26, 0.5 / 22, 0.5 / 22])

    def test_3d(self):
        file = self.run_deck(CUBE, "cube.h5")
        field = file["/fields/temperature"]
        x, y, z = centres(12, 0, 1)[None, None, :], centres(10, 0, 1)[None, :, None], centres(8, 0, 1)[:, None, None]
        self.assertEqual(field.shape, (8, 10, 12))
        slope = np.sqrt(2) * np.pi
        exact = np.sin(np.pi * x) * np.sin(np.pi * z) * np.sinh(slope * y) / np.sinh(slope)
        self.assertLess(np.abs(field - exact).max(), 3e-2)
        self.check_vtkhdf(file, [0, 12, 0, 10, 0, 8], [1 / 12, 1 / 10, 1 / 8])

    def test_none(self):
        file = self.run_deck(PLATE, "plate.h5", output__fields="none")
        self.assertEqual(list(file), ["run"])
        self.assertEqual(self.files(), ["deck.yaml", "plate.h5"])

    def check_vtkhdf(self, file, extent, spacing):
        image = file["/VTKHDF"]
        self.assertEqual(list(image.attrs["WholeExtent"]), extent)
        np.testing.assert_allclose(image.attrs["Spacing"], spacing)
        np.testing.assert_array_equal(image.attrs["Direction"], np.eye(3).ravel())
        kind = image.attrs.get_id("Type").get_type()
        self.assertEqual((image.attrs["Type"], kind.get_size(), kind.is_variable_str()), (b"ImageData", 9, False))
        shown, field = image["CellData/temperature"], file["/fields/temperature"]
        self.assertTrue(shown.is_virtual)
        np.testing.assert_array_equal(shown[...].reshape(field.shape), field)


class Series(RecordTest):
    def test_of_a_transient_run(self):
        file = self.run_deck(DIFFUSION, "diffusion.h5", output__every=10)
        self.assertEqual(list(file["series"]), [f"{n:09}" for n in (10, 20, 30, 40)])  # the final field is apart
        np.testing.assert_allclose(file["VTKHDF/Steps/Values"], [n * 0.001 for n in (10, 20, 30, 40, 50)], rtol=1e-15)
        field = file["/fields/temperature"][...]
        without = self.run_deck(DIFFUSION, "without.h5")
        self.assertNotIn("series", without)
        self.assertEqual(without["/fields/temperature"][...].tobytes(), field.tobytes())
        shorter = self.run_deck(DIFFUSION, "shorter.h5", time__end=0.03)
        np.testing.assert_allclose(
            shorter["/fields/temperature"][...], file["series/000000030/temperature"][...], rtol=1e-13
        )
        times = [grid.find("Time").get("Value") for grid in self.grids("diffusion.xmf")]
        self.assertEqual([float(t) for t in times], [0.01, 0.02, 0.03, 0.04, 0.05])

    def test_of_sweeps(self):
        fixed = {"solver__tolerance": 0, "warm_up__sweeps": 0, "measure__repeats": 1, "verification__tolerance": 9}
        file = self.run_deck(PLATE, "plate.h5", output__every=4, solver__max_sweeps=10, **fixed)
        self.assertEqual(list(file["series"]), ["000000004", "000000008"])
        self.assertEqual(len(self.grids("plate.xmf")), 3)  # and the final field
        for sweeps, name in (8, "series/000000008/temperature"), (10, "fields/temperature"):
            other = self.run_deck(PLATE, "other.h5", solver__max_sweeps=sweeps, **fixed)
            self.assertEqual(other["/fields/temperature"][...].tobytes(), file[name][...].tobytes())
            other.close()

    def grids(self, name):
        """The grids of an XDMF file with data, all of which must be in the HDF5 file."""
        found = [g for g in xml.parse(self.folder / name).iter("Grid") if g.get("GridType") == "Uniform"]
        for grid in found:
            for item in grid.iter("DataItem"):
                if item.get("Format") == "HDF":
                    self.numbers_of(item)
        return found

    def test_xdmf_of_one_field(self):
        for deck, name, precision in (PLATE, "plate", "double"), (CUBE, "cube", "float"):
            overrides = {"problem__precision": precision, "solver__tolerance": 1e-5}
            self.run_deck(deck, f"{name}.h5", **overrides)
            self.assertEqual(len(self.grids(f"{name}.xmf")), 1)

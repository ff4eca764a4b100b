# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fields of images by VTK's reader of VTKHDF, and series of images and meshes, which it has from VTK 9.3 on."""

import unittest

from fields import CUBE, DIFFUSION
from launch import CG, DYNAMICS, ROOT
from recorded import PLATE, RecordTest, h5py

if h5py:
    import numpy as np

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOHDF import vtkHDFReader

    HAS_STEPS = hasattr(vtkHDFReader, "SetStep")
except ImportError:
    vtkHDFReader, HAS_STEPS = None, False


class VtkTest(RecordTest):
    def read(self, name):
        reader = vtkHDFReader()
        reader.SetFileName(str(self.folder / name))
        reader.Update()
        return reader

    def assert_has(self, values, field):
        np.testing.assert_array_equal(vtk_to_numpy(values).reshape(field.shape), field)


@unittest.skipIf(vtkHDFReader is None, "this python has no VTK (Debian/Ubuntu: apt-get install python3-vtk9)")
class Points(VtkTest):
    program = CG

    def test_3d(self):
        deck = (ROOT / "inputs/cg/poisson7.yaml").read_text()
        field = self.run_deck(deck, "x.h5", problem__stencil__points=[7, 6, 5], verification__tolerance=9)["fields/x"][...]
        image = self.read("x.h5").GetOutput()
        self.assertEqual(image.GetDimensions(), field.shape[::-1])
        self.assert_has(image.GetPointData().GetArray("x"), field)


@unittest.skipUnless(HAS_STEPS, "VTK 9.1 reads no cells of images, and this python has no later one")
class Cells(VtkTest):
    def test_2d_is_a_layer(self):
        field = self.run_deck(PLATE, "plate.h5")["fields/temperature"][...]
        image = self.read("plate.h5").GetOutput()
        self.assertEqual(image.GetDimensions(), (27, 23, 2))
        np.testing.assert_allclose(image.GetBounds(), (0, 1, 0, 0.5, 0, 0.5 / 22))
        self.assert_has(image.GetCellData().GetArray("temperature"), field)

    def test_3d(self):
        field = self.run_deck(CUBE, "cube.h5")["fields/temperature"][...]
        image = self.read("cube.h5").GetOutput()
        self.assertEqual(image.GetDimensions(), (13, 11, 9))
        self.assert_has(image.GetCellData().GetArray("temperature"), field)


class SeriesTest(VtkTest):
    def check(self, name, times, of_step):
        """of_step(VTK's output, HDF5 group) at each time."""
        reader = self.read(name)
        self.assertEqual(reader.GetNumberOfSteps(), len(times))
        with h5py.File(self.folder / name) as file:
            groups = [*file["series"].values(), file["fields"]]
            for step, (time, group) in enumerate(zip(times, groups, strict=True)):
                reader.SetStep(step)
                reader.Update()
                self.assertAlmostEqual(reader.GetTimeValue(), time, places=12)
                of_step(reader.GetOutput(), group)


@unittest.skipUnless(HAS_STEPS, "this python has no VTK 9.3 or later")
class Series(SeriesTest):
    def test_of_an_image(self):
        self.run_deck(DIFFUSION, "diffusion.h5", output__every=10).close()
        self.check("diffusion.h5", (0.01, 0.02, 0.03, 0.04, 0.05), lambda image, group: self.assert_has(
            image.GetCellData().GetArray("temperature"), group["temperature"][...]))


@unittest.skipUnless(HAS_STEPS, "this python has no VTK 9.3 or later")
class MeshSeries(SeriesTest):
    program = DYNAMICS

    def test_of_a_mesh(self):
        deck = (ROOT / "inputs/dynamics/random.yaml").read_text()
        small = {"problem__elements": [12, 3, 2], "time__steps": 30}
        file = self.run_deck(deck, "bar.h5", output__every=10, **small)
        times = [group.attrs["time"] for group in (*file["series"].values(), file["fields"])]
        cells = file["mesh/connectivity"][...]
        file.close()

        def of_step(grid, group):
            np.testing.assert_array_equal(vtk_to_numpy(grid.GetCells().GetConnectivityArray()), cells.ravel())
            for of, names in (grid.GetPointData(), ("displacement", "velocity")), (grid.GetCellData(), ("stress", "rank")):
                for name in names:
                    self.assert_has(of.GetArray(name), group[name][...])

        self.check("bar.h5", times, of_step)

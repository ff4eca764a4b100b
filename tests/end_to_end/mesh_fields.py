# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fields of hexahedra, by VTK's reader of VTKHDF and by what XDMF says: a wave along a bar, whose answer is known.

Nodes and elements are numbered at random, so a place that is not that of its number shows.
"""

import os
import unittest
import xml.etree.ElementTree as xml

from launch import ROOT
from recorded import RecordTest, h5py

if h5py:
    import numpy as np

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkLookupTable
    from vtkmodules.vtkCommonDataModel import VTK_HEXAHEDRON, vtkImageData
    from vtkmodules.vtkFiltersCore import vtkProbeFilter
    from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
    from vtkmodules.vtkImagingCore import vtkImageMapToColors
    from vtkmodules.vtkIOHDF import vtkHDFReader
    from vtkmodules.vtkIOImage import vtkPNGReader, vtkPNGWriter
except ImportError:
    vtkHDFReader = None

DECK = ROOT / "inputs/dynamics/random.yaml"
ELEMENTS, SIZE, STEPS = (60, 3, 2), (5, 1, 1), 40


def start(x):
    """The velocity at the start, beyond the free end with its image: DECK has this formula."""
    return np.where(np.abs(x) < 1, 0.0005 * (1 + np.cos(np.pi * x)), 0)


def integral(x):
    x = np.clip(x, -1, 1)
    return 0.0005 * (x + np.sin(np.pi * x) / np.pi)


class MeshFields(RecordTest):
    program = os.environ.get("KONTOR_DYNAMICS", str(ROOT / "build/bin/dynamics"))

    def setUp(self):
        super().setUp()
        self.file = self.run_deck(DECK.read_text(), "bar.h5", problem__elements=list(ELEMENTS), time__steps=STEPS)
        self.time = self.file["fields"].attrs["time"]
        self.assertLess(self.time, 3.5)  # the wave has not come to the held end

    def check(self, points, cells, fields):
        """d'Alembert's solution at the places that nodes and elements have."""
        x, t, edge = points[:, 0], self.time, np.divide(SIZE, ELEMENTS)
        unit = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
        corners = points[cells]
        np.testing.assert_allclose(corners, corners[:, :1] + unit * edge, atol=1e-12)
        lowest = np.round(corners[:, 0] / edge).astype(int)
        self.assertEqual({tuple(place) for place in lowest}, set(np.ndindex(*ELEMENTS)))
        centre = corners.mean(axis=1)[:, 0]
        step = t / STEPS
        half, before = t - step / 2, t - step  # a step is from the stress at its beginning, by the velocity in its middle
        expected = {
            "displacement": (integral(x + t) - integral(x - t)) / 2,
            "velocity": (start(x + half) + start(x - half)) / 2,
            "stress": (start(centre + before) - start(centre - before)) / 2,  # Young's modulus is 1, Poisson's ratio 0
        }
        self.assertEqual(set(fields), {*expected, "rank"})
        for name, of_x in expected.items():
            full = np.zeros_like(fields[name])
            full[:, 0] = of_x
            np.testing.assert_allclose(fields[name], full, atol=0.05 * np.abs(of_x).max(), err_msg=name)
        np.testing.assert_array_equal(fields["rank"].ravel(), centre > SIZE[0] / 2)


class Xdmf(MeshFields):
    def test_fields(self):
        (grid,) = xml.parse(self.folder / "bar.xmf").iter("Grid")
        self.assertEqual(float(grid.find("Time").get("Value")), self.time)
        self.assertEqual([grid.find("Topology").get(key) for key in ("TopologyType", "NumberOfElements")],
                         ["Hexahedron", str(np.prod(ELEMENTS))])
        kinds = {a.get("Name"): (a.get("AttributeType"), a.get("Center")) for a in grid.iter("Attribute")}
        self.assertEqual(kinds, {"displacement": ("Vector", "Node"), "velocity": ("Vector", "Node"),
                                 "stress": ("Tensor", "Cell"), "rank": ("Scalar", "Cell")})
        self.check(self.read(grid.find("Geometry")), self.read(grid.find("Topology")),
                   {a.get("Name"): self.read(a) for a in grid.iter("Attribute")})

    def read(self, element):
        """The numbers of its data item, which are as it says."""
        item = element.find("DataItem")
        name, path = item.text.split(":")
        with h5py.File(self.folder / name) as file:
            data = file[path]
            self.assertEqual(list(data.shape), [int(n) for n in item.get("Dimensions").split()])
            self.assertEqual(data.dtype.itemsize, int(item.get("Precision")))
            self.assertEqual(data.dtype.kind, {"Float": "f", "Int": "i"}[item.get("NumberType")])
            return data[...]


@unittest.skipIf(vtkHDFReader is None, "this python has no VTK 9.1 (Debian/Ubuntu: apt-get install python3-vtk9)")
class Vtk(MeshFields):
    def setUp(self):
        super().setUp()
        reader = vtkHDFReader()
        self.file.close()
        reader.SetFileName(str(self.folder / "bar.h5"))
        reader.Update()
        self.grid = reader.GetOutput()

    def test_fields(self):
        self.assertEqual(self.grid.GetBounds(), (0, SIZE[0], 0, SIZE[1], 0, SIZE[2]))
        np.testing.assert_array_equal(vtk_to_numpy(self.grid.GetCellTypesArray()), VTK_HEXAHEDRON)
        sizes = vtkCellSizeFilter()
        sizes.SetInputData(self.grid)
        sizes.Update()
        volumes = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume"))
        np.testing.assert_allclose(volumes, np.prod(SIZE) / np.prod(ELEMENTS), rtol=1e-10)
        fields = {of.GetArrayName(i): vtk_to_numpy(of.GetArray(i))
                  for of in (self.grid.GetPointData(), self.grid.GetCellData()) for i in range(of.GetNumberOfArrays())}
        cells = vtk_to_numpy(self.grid.GetCells().GetConnectivityArray()).reshape(-1, 8)
        self.check(vtk_to_numpy(self.grid.GetPoints().GetData()), cells, fields)

    def test_picture(self):
        """The displacement in a plane, which VTK interpolates in the elements, as colours in a PNG file."""
        pixels = vtkImageData()
        pixels.SetDimensions(101, 21, 1)
        pixels.SetSpacing(SIZE[0] / 100, SIZE[1] / 20, 1)
        pixels.SetOrigin(0, 0, SIZE[2] / 3)
        probe = vtkProbeFilter()
        probe.SetInputData(pixels)
        probe.SetSourceData(self.grid)
        probe.Update()
        image = probe.GetOutput()
        self.assertEqual(vtk_to_numpy(image.GetPointData().GetArray("vtkValidPointMask")).min(), 1)
        found = vtk_to_numpy(image.GetPointData().GetArray("displacement")).reshape(21, 101, 3)[:, :, 0]
        x = np.linspace(0, SIZE[0], 101)
        exact = (integral(x + self.time) - integral(x - self.time)) / 2
        np.testing.assert_allclose(found, np.tile(exact, (21, 1)), atol=0.05 * exact.max())
        image.GetPointData().SetActiveScalars("displacement")
        table = vtkLookupTable()
        table.SetRange(0, exact.max())
        colours = vtkImageMapToColors()
        colours.SetInputData(image)
        colours.SetLookupTable(table)
        writer = vtkPNGWriter()
        writer.SetInputConnection(colours.GetOutputPort())
        writer.SetFileName(str(self.folder / "bar.png"))
        writer.Write()
        drawn = vtkPNGReader()
        drawn.SetFileName(writer.GetFileName())
        drawn.Update()
        colour = vtk_to_numpy(drawn.GetOutput().GetPointData().GetScalars()).reshape(21, 101, -1)
        np.testing.assert_array_equal(colour, np.broadcast_to(colour[:1], colour.shape))
        self.assertGreater(len(np.unique(colour[0], axis=0)), 20)

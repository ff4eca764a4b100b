# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fields of hexahedra, by VTK's reader of VTKHDF and by what XDMF says: a wave along a bar, whose answer is known.

Nodes and elements are numbered at random, so a place that is not that of its number shows.
"""

import json
import unittest
import xml.etree.ElementTree as xml

from launch import DYNAMICS, ROOT
from recorded import RecordTest, h5py

if h5py:
    import numpy as np

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkLookupTable
    from vtkmodules.vtkCommonDataModel import VTK_HEXAHEDRON, vtkImageData
    from vtkmodules.vtkFiltersCore import vtkProbeFilter
    from vtkmodules.vtkImagingCore import vtkImageMapToColors
    from vtkmodules.vtkIOHDF import vtkHDFReader
    from vtkmodules.vtkIOImage import vtkPNGReader, vtkPNGWriter
except ImportError:
    vtkHDFReader = None

ELEMENTS, SIZE, STEPS = (60, 3, 2), (5, 1, 1), 40
CORNERS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]


def start(x):
    """The velocity at the start, as the deck has it, beyond the free end with its image."""
    return np.where(np.abs(x) < 1, 0.0005 * (1 + np.cos(np.pi * x)), 0)


def displacement(x, time):
    ends = np.clip([x + time, x - time], -1, 1)
    return 0.00025 * (ends[0] - ends[1] + (np.sin(np.pi * ends[0]) - np.sin(np.pi * ends[1])) / np.pi)


class MeshFields(RecordTest):
    program = DYNAMICS

    def setUp(self):
        super().setUp()
        deck = (ROOT / "inputs/dynamics/random.yaml").read_text()
        self.file = self.run_deck(deck, "bar.h5", problem__elements=list(ELEMENTS), time__steps=STEPS)
        self.time = json.loads(self.file["run"][()])["time"]
        self.assertLess(self.time, 3.5)  # the wave has not come to the held end

    def check(self, points, cells, fields):
        """d'Alembert's solution at the places that nodes and elements have."""
        edge, corners = np.divide(SIZE, ELEMENTS), points[cells]
        np.testing.assert_allclose(corners, corners[:, :1] + CORNERS * edge, atol=1e-12)
        lowest = np.round(corners[:, 0] / edge).astype(int)
        self.assertEqual({tuple(place) for place in lowest}, set(np.ndindex(*ELEMENTS)))
        x, centre, step = points[:, 0], corners.mean(axis=1)[:, 0], self.time / STEPS
        half, before = self.time - step / 2, self.time - step  # the last step begins with the stress
        expected = {
            "displacement": displacement(x, self.time),
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
        topology = grid.find("Topology")
        self.assertEqual(float(grid.find("Time").get("Value")), self.time)
        self.assertEqual(topology.attrib, {"TopologyType": "Hexahedron", "NumberOfElements": str(np.prod(ELEMENTS))})
        kinds = {a.get("Name"): (a.get("AttributeType"), a.get("Center")) for a in grid.iter("Attribute")}
        self.assertEqual(kinds, {"displacement": ("Vector", "Node"), "velocity": ("Vector", "Node"),
                                 "stress": ("Tensor", "Cell"), "rank": ("Scalar", "Cell")})
        points, cells, *fields = (self.numbers_of(of.find("DataItem")) for of in (grid.find("Geometry"), topology, *grid.iter("Attribute")))
        self.check(points, cells, dict(zip(kinds, fields)))


@unittest.skipIf(vtkHDFReader is None, "this python has no VTK 9.1 (Debian/Ubuntu: apt-get install python3-vtk9)")
class Vtk(MeshFields):
    def setUp(self):
        super().setUp()
        self.file.close()
        reader = vtkHDFReader()
        reader.SetFileName(str(self.folder / "bar.h5"))
        reader.Update()
        self.grid = reader.GetOutput()

    def test_fields(self):
        self.assertEqual(self.grid.GetBounds(), (0, SIZE[0], 0, SIZE[1], 0, SIZE[2]))
        np.testing.assert_array_equal(vtk_to_numpy(self.grid.GetCellTypesArray()), VTK_HEXAHEDRON)
        np.testing.assert_array_equal(np.diff(vtk_to_numpy(self.grid.GetCells().GetOffsetsArray())), 8)
        fields = {of.GetArrayName(i): vtk_to_numpy(of.GetArray(i))
                  for of in (self.grid.GetPointData(), self.grid.GetCellData()) for i in range(of.GetNumberOfArrays())}
        cells = vtk_to_numpy(self.grid.GetCells().GetConnectivityArray()).reshape(-1, 8)
        self.check(vtk_to_numpy(self.grid.GetPoints().GetData()), cells, fields)

    def test_picture(self):
        """The displacement in a plane, which VTK interpolates in the elements, as colours in a PNG file. It needs no display."""
        pixels, probe, table, colours, writer, reader = (
            kind() for kind in (vtkImageData, vtkProbeFilter, vtkLookupTable, vtkImageMapToColors, vtkPNGWriter, vtkPNGReader)
        )
        pixels.SetDimensions(101, 21, 1)
        pixels.SetSpacing(SIZE[0] / 100, SIZE[1] / 20, 1)
        pixels.SetOrigin(0, 0, SIZE[2] / 3)
        probe.SetInputData(pixels)
        probe.SetSourceData(self.grid)
        probe.Update()
        found = probe.GetOutput().GetPointData()
        self.assertEqual(vtk_to_numpy(found.GetArray("vtkValidPointMask")).min(), 1)
        exact = displacement(np.linspace(0, SIZE[0], 101), self.time)
        of_x = vtk_to_numpy(found.GetArray("displacement"))[:, 0].reshape(21, 101)
        np.testing.assert_allclose(of_x, np.tile(exact, (21, 1)), atol=0.05 * exact.max())
        found.SetActiveScalars("displacement")
        table.SetRange(0, exact.max())
        colours.SetInputData(probe.GetOutput())
        colours.SetLookupTable(table)
        writer.SetInputConnection(colours.GetOutputPort())
        writer.SetFileName(str(self.folder / "bar.png"))
        writer.Write()
        reader.SetFileName(writer.GetFileName())
        reader.Update()
        drawn = vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars()).reshape(21, 101, -1)
        np.testing.assert_array_equal(drawn, np.broadcast_to(drawn[:1], drawn.shape))
        self.assertGreater(len(np.unique(drawn[0], axis=0)), 20)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fields in the HDF5 file, by h5py, by what its XDMF file says, and by VTK's reader of VTKHDF. Those of a mesh are
a wave along a bar; its nodes and elements are numbered at random, so a place that is not that of its number shows."""

import json
import unittest
import xml.etree.ElementTree as xml

from launch import CG, DYNAMICS, ROOT, RecordTest, h5py

if h5py:
    import numpy as np

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import VTK_HEXAHEDRON
    from vtkmodules.vtkIOHDF import vtkHDFReader

    HAS_STEPS = hasattr(vtkHDFReader, "SetStep")
except ImportError:
    vtkHDFReader, HAS_STEPS = None, False

PLATE = RecordTest.PLATE
CUBE = """\
app: heat
problem:
  cells: [12, 10, 8]
  precision: float
  boundary:
    y_max: {dirichlet: "sin(pi*x)*sin(pi*z)"}
  exact: "sin(pi*x)*sin(pi*z)*sinh(sqrt(2)*pi*y)/sinh(sqrt(2)*pi)"
solver: {tolerance: 1.0e-5}
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
TIMES = [0.01, 0.02, 0.03, 0.04, 0.05]

# Of the bar. Young's modulus is 1, Poisson's ratio 0.
ELEMENTS, SIZE, STEPS = (60, 3, 2), (5, 1, 1), 40
CORNERS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
KINDS = {"displacement": ("Vector", "Node"), "velocity": ("Vector", "Node"),
         "stress": ("Tensor", "Cell"), "rank": ("Scalar", "Cell")}


def centres(cells, upper):
    """The coordinates x, y and z of the cells, as datasets have them."""
    axes = [side / count * (np.arange(count) + 0.5) for count, side in zip(cells, upper)]
    return np.meshgrid(*axes[::-1], indexing="ij")[::-1]


def pulse(x):
    """The velocity at the start, as the deck has it, beyond the free end with its image."""
    return np.where(np.abs(x) < 1, 0.0005 * (1 + np.cos(np.pi * x)), 0)


def displacement(x, time):
    ends = np.clip([x + time, x - time], -1, 1)
    return 0.00025 * (ends[0] - ends[1] + (np.sin(np.pi * ends[0]) - np.sin(np.pi * ends[1])) / np.pi)


class FieldTest(RecordTest):
    def run_bar(self, **keys):
        self.program = DYNAMICS
        return self.run_deck((ROOT / "inputs/dynamics/random.yaml").read_text(), "bar.h5", **keys)

    def check_wave(self, time, points, cells, fields):
        """d'Alembert's solution at the places that nodes and elements have."""
        edge, corners = np.divide(SIZE, ELEMENTS), points[cells]
        np.testing.assert_allclose(corners, corners[:, :1] + CORNERS * edge, atol=1e-12)
        lowest = np.round(corners[:, 0] / edge).astype(int)
        self.assertEqual({tuple(place) for place in lowest}, set(np.ndindex(*ELEMENTS)))
        x, centre, step = points[:, 0], corners.mean(axis=1)[:, 0], time / STEPS
        half, before = time - step / 2, time - step  # the last step begins with the stress
        expected = {
            "displacement": displacement(x, time),
            "velocity": (pulse(x + half) + pulse(x - half)) / 2,
            "stress": (pulse(centre + before) - pulse(centre - before)) / 2,
        }
        self.assertEqual(set(fields), {*expected, "rank"})
        for name, of_x in expected.items():
            full = np.zeros_like(fields[name])
            full[:, 0] = of_x
            np.testing.assert_allclose(fields[name], full, atol=0.05 * np.abs(of_x).max(), err_msg=name)
        np.testing.assert_array_equal(fields["rank"].ravel(), centre > SIZE[0] / 2)

    def read(self, name):
        reader = vtkHDFReader()
        reader.SetFileName(str(self.folder / name))
        reader.Update()
        return reader

    def assert_has(self, data, name, field):
        np.testing.assert_array_equal(vtk_to_numpy(data.GetArray(name)).reshape(field.shape), field)


class Fields(FieldTest):
    """output/tests has the group VTKHDF of images."""

    def test_images(self):
        """In two and three dimensions, and none."""
        plate = lambda x, y: np.sin(np.pi * x) * np.sinh(np.pi * y) / np.sinh(np.pi / 2)
        slope = 2**0.5 * np.pi
        cube = lambda x, y, z: np.sin(np.pi * x) * np.sin(np.pi * z) * np.sinh(slope * y) / np.sinh(slope)
        for name, deck, cells, upper, exact, error in (
            ("plate", PLATE, (26, 22), (1, 0.5), plate, 5e-3), ("cube", CUBE, (12, 10, 8), (1, 1, 1), cube, 3e-2),
        ):
            field = self.run_deck(deck, f"{name}.h5")["/fields/temperature"]
            np.testing.assert_allclose(field, exact(*centres(cells, upper)), atol=error)
            self.assertEqual(len(self.grids(f"{name}.xmf")), 1)
        self.assertEqual(list(self.run_deck(PLATE, "none.h5", output__fields="none")), ["run"])
        self.assertNotIn("none.xmf", self.files())

    def grids(self, name):
        """The grids of an XDMF file with data, all of which must be in the HDF5 file."""
        found = [g for g in xml.parse(self.folder / name).iter("Grid") if g.get("GridType") == "Uniform"]
        for item in (item for grid in found for item in grid.iter("DataItem") if item.get("Format") == "HDF"):
            self.numbers_of(item)
        return found

    def test_series(self):
        """Of times and of sweeps; the final field is apart."""
        file = self.run_deck(DIFFUSION, "diffusion.h5", output__every=10)
        self.assertEqual(list(file["series"]), [f"{n:09}" for n in (10, 20, 30, 40)])
        np.testing.assert_allclose(file["VTKHDF/Steps/Values"], TIMES, rtol=1e-15)
        self.assertEqual([float(grid.find("Time").get("Value")) for grid in self.grids("diffusion.xmf")], TIMES)
        fixed = {"solver__tolerance": 0, "warm_up__sweeps": 0, "measure__repeats": 1, "verification__tolerance": 9}
        file = self.run_deck(PLATE, "plate.h5", output__every=4, solver__max_sweeps=10, **fixed)
        self.assertEqual(list(file["series"]), ["000000004", "000000008"])
        self.assertEqual(len(self.grids("plate.xmf")), 3)
        other = self.run_deck(PLATE, "other.h5", solver__max_sweeps=8, **fixed)
        self.assertNotIn("series", other)
        np.testing.assert_array_equal(other["/fields/temperature"], file["series/000000008/temperature"])

    def test_mesh(self):
        time = json.loads(self.run_bar(problem__elements=list(ELEMENTS), time__steps=STEPS)["run"][()])["time"]
        self.assertLess(time, 3.5)  # the wave has not come to the held end
        (grid,) = xml.parse(self.folder / "bar.xmf").iter("Grid")
        topology = grid.find("Topology")
        self.assertEqual(float(grid.find("Time").get("Value")), time)
        self.assertEqual(topology.attrib, {"TopologyType": "Hexahedron", "NumberOfElements": str(np.prod(ELEMENTS))})
        kinds = {a.get("Name"): (a.get("AttributeType"), a.get("Center")) for a in grid.iter("Attribute")}
        self.assertEqual(kinds, KINDS)
        items = (of.find("DataItem") for of in (grid.find("Geometry"), topology, *grid.iter("Attribute")))
        points, cells, *fields = map(self.numbers_of, items)
        self.check_wave(time, points, cells, dict(zip(kinds, fields)))
        if vtkHDFReader:
            self.check_by_vtk(time)

    def check_by_vtk(self, time):
        grid = self.read("bar.h5").GetOutput()
        self.assertEqual(grid.GetBounds(), (0, SIZE[0], 0, SIZE[1], 0, SIZE[2]))
        np.testing.assert_array_equal(vtk_to_numpy(grid.GetCellTypesArray()), VTK_HEXAHEDRON)
        np.testing.assert_array_equal(np.diff(vtk_to_numpy(grid.GetCells().GetOffsetsArray())), 8)
        fields = {of.GetArrayName(i): vtk_to_numpy(of.GetArray(i))
                  for of in (grid.GetPointData(), grid.GetCellData()) for i in range(of.GetNumberOfArrays())}
        cells = vtk_to_numpy(grid.GetCells().GetConnectivityArray()).reshape(-1, 8)
        self.check_wave(time, vtk_to_numpy(grid.GetPoints().GetData()), cells, fields)


@unittest.skipIf(vtkHDFReader is None, "this python has no VTK 9.1 (Debian/Ubuntu: apt-get install python3-vtk9)")
class Vtk(FieldTest):
    def test_points(self):
        self.program = CG
        deck = (ROOT / "inputs/cg/poisson7.yaml").read_text()
        keys = {"problem__stencil__points": [7, 6, 5], "verification__tolerance": 9}
        field = self.run_deck(deck, "x.h5", **keys)["fields/x"][...]
        image = self.read("x.h5").GetOutput()
        self.assertEqual(image.GetDimensions(), field.shape[::-1])
        self.assert_has(image.GetPointData(), "x", field)


@unittest.skipUnless(HAS_STEPS, "this python has no VTK 9.3, which reads series and cells of images")
class VtkSteps(FieldTest):
    def test_image(self):
        field = self.run_deck(CUBE, "cube.h5")["fields/temperature"][...]
        image = self.read("cube.h5").GetOutput()
        self.assertEqual((image.GetDimensions(), image.GetBounds()[1::2]), ((13, 11, 9), (1, 1, 1)))
        self.assert_has(image.GetCellData(), "temperature", field)

    def test_series(self):
        """Of an image and of a mesh."""
        for name, fields in ("diffusion.h5", {"temperature": ("", "Cell")}), ("bar.h5", KINDS):
            if fields is KINDS:
                file = self.run_bar(output__every=10, problem__elements=[12, 3, 2], time__steps=30)
            else:
                file = self.run_deck(DIFFUSION, name, output__every=10)
            groups = [*file["series"].values(), file["fields"]]
            times = [group.attrs["time"] for group in groups] if fields is KINDS else TIMES
            reader = self.read(name)
            self.assertEqual(reader.GetNumberOfSteps(), len(times))
            for step, (time, group) in enumerate(zip(times, groups, strict=True)):
                reader.SetStep(step)
                reader.Update()
                self.assertAlmostEqual(reader.GetTimeValue(), time, places=12)
                of = {"Cell": reader.GetOutput().GetCellData(), "Node": reader.GetOutput().GetPointData()}
                for field, (_, place) in fields.items():
                    self.assert_has(of[place], field, group[field][...])

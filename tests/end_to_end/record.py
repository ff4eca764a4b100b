# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a run leaves in its HDF5 file, read by h5py, and beside it."""

import json
import re
import unittest
import xml.etree.ElementTree as xml

from launch import HeatTest

try:
    import h5py
    import numpy as np
except ImportError as missing:
    raise unittest.SkipTest(f"this python has no h5py: {missing}")

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

TEXT, INTEGER, NUMBER, TRUTH = str, np.int64, np.float64, np.uint8

RUN = {
    **dict.fromkeys("app version git_revision started command deck process_grid precision stores".split(), TEXT),
    **dict.fromkeys("execution_space kokkos_version mpi_library hdf5_version compiler flags".split(), TEXT),
    **dict.fromkeys("backend pattern packing path".split(), TEXT),
    **dict.fromkeys("ranks threads sweeps field_memory peak_memory".split(), INTEGER),
    "start_to_first_sweep": NUMBER,
    "overlap": TRUTH,
    "hosts": np.ndarray,
}
FIGURE = {"name": TEXT, "unit": TEXT, "value": NUMBER, "attainable": NUMBER, "fraction": NUMBER}

# Of these a second run has others.
OF_THE_MOMENT = {"started", "command", "deck", "start_to_first_sweep", "peak_memory", "value", "attainable", "fraction"}
OF_THE_MOMENT |= {"timers", "repeats", "triad_bandwidth", "latency", "bandwidth"}


def centres(cells, lower, upper):
    step = (upper - lower) / cells
    return lower + step * (np.arange(cells) + 0.5)


def tree(group):
    """An HDF5 group as --results writes it; None for a number that JSON does not have."""
    plain = lambda v: v.decode() if isinstance(v, bytes) else v.tolist() if hasattr(v, "tolist") else v
    finite = lambda v: None if isinstance(v, float) and not np.isfinite(v) else v
    result = {name: finite(plain(value)) for name, value in group.attrs.items()}
    for name, child in group.items():
        if isinstance(child, h5py.Group):
            result[name] = tree(child)
        elif child.dtype.names:
            result[name] = [{key: plain(row[key]) for key in child.dtype.names} for row in child[...]]
        else:
            result[name] = child[...].tolist()
    return result


class RecordTest(HeatTest):
    def run_deck(self, text, name, *arguments, ranks=3, **overrides):
        """Runs the deck; its file, open until the test ends."""
        self.write("deck.yaml", text)
        keys = [word for key, value in overrides.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]
        self.said = self.passes("deck.yaml", "-o", name, *arguments, *keys, ranks=ranks)
        file = h5py.File(self.folder / name)
        self.addCleanup(file.close)
        return file

    def assert_attributes(self, group, types):
        self.assertEqual(set(group.attrs), set(types))
        for name, kind in types.items():
            self.assertIsInstance(group.attrs[name], kind, name)


class Run(RecordTest):
    def test_attributes(self):
        run = self.run_deck(PLATE, "plate.h5", comm__backend="view")["/run"]
        self.assert_attributes(run, RUN)
        value = run.attrs
        self.assertEqual(
            (value["app"], value["ranks"], value["backend"], value["pattern"], value["overlap"], value["precision"]),
            ("heat", 3, "view", "nonblocking", 1, "double"),
        )
        self.assertIn(value["packing"], ("kernel", "datatype", "none"), "what was used, not auto")
        self.assertRegex(value["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertRegex(value["command"], r"heat deck\.yaml -o plate\.h5 --set comm\.backend=view$")
        self.assertRegex(value["process_grid"], r"^\d x \d$")
        self.assertEqual(value["sweeps"] % 50, 0)
        self.assertEqual(list(run["cells"]), [26, 22])
        self.assertEqual(len(run["repeats"]), 2)
        self.assertGreaterEqual(len(value["hosts"]), 1)

    def test_groups(self):
        run = self.run_deck(PLATE, "plate.h5")["/run"]
        self.assert_attributes(run["figure_of_merit"], FIGURE)
        self.assertEqual(run["figure_of_merit"].attrs["name"], "cell_updates")
        for name, figure in run["figures_of_merit"].items():
            self.assert_attributes(figure, FIGURE)
            self.assertEqual(figure.attrs["name"], name)
            self.assertAlmostEqual(figure.attrs["fraction"], figure.attrs["value"] / figure.attrs["attainable"])
        verification = {"passed": TRUTH, "measure": TEXT, "error": NUMBER, "tolerance": NUMBER}
        self.assert_attributes(run["verification"], verification)
        self.assertEqual(run["verification"].attrs["passed"], 1)
        self.assertLessEqual(run["verification"].attrs["error"], run["verification"].attrs["tolerance"])
        self.assertEqual(set(run["calibration"].attrs), {"triad_bandwidth", "latency", "bandwidth"})

    def test_tables(self):
        run = self.run_deck(PLATE, "plate.h5", decomposition__process_grid="[1,3]")["/run"]
        timers = run["timers"]
        self.assertEqual(timers.dtype.names, ("region", "calls", "min", "median", "max", "slowest_rank"))
        regions = {row["region"].decode() for row in timers}
        self.assertLessEqual({"calibrate", "setup", "compute", "wait", "reduce", "verify"}, regions)
        for row in timers:
            self.assertTrue(0 <= row["min"] <= row["median"] <= row["max"], row)
            self.assertIn(row["slowest_rank"], range(3))
        table = sorted(tuple(row) for row in run["traffic"])
        self.assertEqual(run["traffic"].dtype.names, ("rank", "neighbour", "messages", "bytes"))
        face = 26 * 8
        self.assertEqual(table, [(0, 1, 1, face), (1, 0, 1, face), (1, 2, 1, face), (2, 1, 1, face)])

    def test_history(self):
        run = self.run_deck(PLATE, "plate.h5")["/run"]
        iteration, norm = run["history/iteration"][...], run["history/norm"][...]
        self.assertEqual(list(iteration), list(range(50, run.attrs["sweeps"] + 1, 50)))
        self.assertTrue(np.all(norm[:-1] >= 1e-9) and norm[-1] < 1e-9, norm)

    def test_deck_gives_the_same_deck_again(self):
        deck = self.run_deck(PLATE, "plate.h5")["/run"].attrs["deck"]
        self.write("again.yaml", deck)
        printed = self.passes("again.yaml", "--print-deck", ranks=3)
        self.assertEqual(printed.out, deck)

    def test_results_are_the_record(self):
        file = self.run_deck(PLATE, "plate.h5", "--results", "plate.json")
        results = json.loads((self.folder / "plate.json").read_text())
        results["overlap"] = int(results["overlap"])
        results["verification"]["passed"] = int(results["verification"]["passed"])
        self.assertEqual(results, tree(file["/run"]))


class Fields(RecordTest):
    def test_2d(self):
        field = self.run_deck(PLATE, "plate.h5")["/fields/temperature"]
        x, y = centres(26, 0, 1)[None, :], centres(22, 0, 0.5)[:, None]
        self.assertEqual(field.shape, (22, 26))
        exact = np.sin(np.pi * x) * np.sinh(np.pi * y) / np.sinh(np.pi / 2)
        self.assertLess(np.abs(field - exact).max(), 5e-3)

    def test_3d(self):
        field = self.run_deck(CUBE, "cube.h5")["/fields/temperature"]
        x, y, z = centres(12, 0, 1)[None, None, :], centres(10, 0, 1)[None, :, None], centres(8, 0, 1)[:, None, None]
        self.assertEqual(field.shape, (8, 10, 12))
        slope = np.sqrt(2) * np.pi
        exact = np.sin(np.pi * x) * np.sin(np.pi * z) * np.sinh(slope * y) / np.sinh(slope)
        self.assertLess(np.abs(field - exact).max(), 3e-2)

    def test_none(self):
        file = self.run_deck(PLATE, "plate.h5", output__fields="none")
        self.assertEqual(list(file), ["run"])
        self.assertEqual(self.files(), ["deck.yaml", "plate.h5"])

    def test_are_the_same_however_written(self):
        one = self.run_deck(CUBE, "gathered.h5", output__access="gathered")
        two = self.run_deck(CUBE, "parallel.h5", output__access="parallel")

        def contents(file):
            found = {}

            def visit(path, thing):
                found[path] = {k: str(v) for k, v in thing.attrs.items() if k not in OF_THE_MOMENT}
                if isinstance(thing, h5py.Dataset):
                    same = path.split("/")[-1] not in OF_THE_MOMENT
                    found[path + " values"] = (thing.dtype, thing.shape, thing[...].tobytes() if same else None)

            file.visititems(visit)
            return found

        self.assertEqual(contents(one), contents(two))

    def test_vtkhdf(self):
        for deck, extent, spacing in (
            (PLATE, [0, 26, 0, 22, 0, 0], [1 / 26, 0.5 / 22, 1]),
            (CUBE, [0, 12, 0, 10, 0, 8], [1 / 12, 1 / 10, 1 / 8]),
        ):
            file = self.run_deck(deck, "image.h5")
            image = file["/VTKHDF"]
            self.assertEqual(list(image.attrs["WholeExtent"]), extent)
            np.testing.assert_allclose(image.attrs["Spacing"], spacing)
            np.testing.assert_array_equal(image.attrs["Direction"], np.eye(3).ravel())
            kind = image.attrs.get_id("Type").get_type()
            self.assertEqual((image.attrs["Type"], kind.get_size(), kind.is_variable_str()), (b"ImageData", 9, False))
            self.assertEqual(image["CellData/temperature"], file["/fields/temperature"])  # one object, two names
            file.close()


class Series(RecordTest):
    def test_of_a_transient_run(self):
        file = self.run_deck(DIFFUSION, "diffusion.h5", output__every=10)
        self.assertEqual(list(file["series"]), [f"{n:09}" for n in (10, 20, 30, 40, 50)])
        for n, snapshot in zip((10, 20, 30, 40, 50), file["series"].values()):
            self.assertEqual(snapshot.attrs["sweeps"], n)
            self.assertAlmostEqual(snapshot.attrs["time"], n * 0.001, places=15)
        field = file["/fields/temperature"][...]
        self.assertEqual(file["series/000000050/temperature"][...].tobytes(), field.tobytes())
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
                if item.get("Format") != "HDF":
                    continue
                file, path = item.text.split(":")
                shape = [int(n) for n in item.get("Dimensions").split()]
                with h5py.File(self.folder / file) as data:
                    self.assertEqual(data[path].size, np.prod(shape))
                    self.assertEqual(data[path].dtype.itemsize, int(item.get("Precision")))
        return found

    def test_xdmf_of_one_field(self):
        for deck, name, precision in (PLATE, "plate", "double"), (CUBE, "cube", "float"):
            overrides = {"problem__precision": precision, "solver__tolerance": 1e-5}
            self.run_deck(deck, f"{name}.h5", **overrides)
            self.assertEqual(len(self.grids(f"{name}.xmf")), 1)


class Sayings(RecordTest):
    def test_quiet(self):
        self.run_deck(PLATE, "plate.h5", "--quiet")
        self.assertRegex(
            self.said.out,
            r"\AFOM cell_updates = \S+ 1/s\nFOM effective_bandwidth = \S+ B/s\nVERIFICATION PASSED\n\Z",
        )
        self.assertEqual(self.said.err, "")

    def test_table(self):
        self.run_deck(PLATE, "plate.h5")
        self.assertRegex(self.said.out, r"\Aheat on 3 ranks as \d x \d, double, ")
        self.assertEqual(self.said.out.count("VERIFICATION"), 1)

    def told(self, *arguments):
        """What `heat` tells, once, on several ranks and without leaving a file."""
        before = self.files()
        result = self.passes(*arguments, ranks=2)
        self.assertEqual(result.err, "")
        self.assertEqual(self.files(), before)
        return result.out

    def test_help(self):
        text = self.told("--help")
        self.assertTrue(text.startswith("Heat conduction"), text)
        self.assertEqual(text.count("Usage: "), 1)
        for option in "--set", "--output", "--results", "--print-deck", "--schema", "--list-backends", "--quiet":
            self.assertIn(option, text)
        self.assertNotIn("kokkos", text.lower())

    def test_version(self):
        self.assertRegex(self.told("--version"), r"\Aheat of Kontor \d+\.\d+\.\d+ \(\S+\)\n\Z")

    def test_list_backends(self):
        lines = self.told("--list-backends").splitlines()
        self.assertLessEqual({"raw", "view"}, {line.split()[0] for line in lines})
        for line in lines:
            self.assertTrue(re.search(r" (built|not built) ", line), line)

    def test_schema(self):
        schema = json.loads(self.told("--schema"))
        self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        self.assertEqual(schema["properties"]["app"]["const"], "heat")

        def walk(section, path):
            self.assertEqual(section["type"], "object", path)
            self.assertIs(section["additionalProperties"], False, path)
            for name, key in section["properties"].items():
                self.assertTrue(key["description"], f"{path}.{name}")
                if key.get("type") == "object":
                    walk(key, f"{path}.{name}")

        walk(schema, "")

    def test_print_deck(self):
        self.write("deck.yaml", PLATE)
        first = self.told("deck.yaml", "--print-deck")
        self.assertIn('file: "plate.h5"', first)
        self.write("printed.yaml", first)
        self.assertEqual(self.told("printed.yaml", "--print-deck"), first)


if __name__ == "__main__":
    unittest.main()

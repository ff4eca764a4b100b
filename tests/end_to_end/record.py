# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""/run of the HDF5 file: what a run tells of itself. docs/record_reference has the types of all entries."""

import os

from recorded import PLATE, RecordTest, h5py

if h5py:
    import numpy as np

    TEXT, NUMBER = str, np.float64
else:
    TEXT = NUMBER = None
FIGURE = {"name": TEXT, "unit": TEXT, **dict.fromkeys("value bytes_read bytes_written attainable fraction".split(), NUMBER)}


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


class Run(RecordTest):
    calibrates = True

    def assert_attributes(self, group, types):
        self.assertEqual(set(group.attrs), set(types))
        for name, kind in types.items():
            self.assertIsInstance(group.attrs[name], kind, name)

    def test_three_ranks(self):
        """One run shows most of the record."""
        file = self.run_deck(PLATE, "plate.h5", "--results", "plate.json", ranks=3, comm__backend="view")
        for check in (self.values, self.tables, self.deck_gives_the_same_deck_again, self.results_are_the_record,
                      self.ranks_that_share_cores_are_not_set_beside_the_machine):
            with self.subTest(check.__name__):
                check(file["run"])

    def values(self, run):
        """What was used, not auto."""
        value = run.attrs
        self.assertEqual([value[name] for name in ("app", "ranks", "backend", "pattern", "overlap", "precision", "process_grid")],
                         ["heat", 3, "view", "nonblocking", 1, "double", "3 x 1"])
        self.assertIn(value["path"], ("host", "direct", "staged"))
        self.assertEqual("devices" in run, value["path"] != "host")
        self.assertIn(value["packing"], ("kernel", "datatype", "none"))
        self.assertRegex(value["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertRegex(value["command"], r"heat deck\.yaml -o plate\.h5 --results plate\.json --set comm\.backend=view$")
        self.assertEqual((list(run["cells"]), len(run["repeats"])), ([26, 22], 2))

    def tables(self, run):
        timers = run["timers"]
        self.assertLessEqual({"calibrate", "setup", "compute", "wait", "reduce", "verify"}, {row["region"].decode() for row in timers})
        once = {row["region"].decode() for row in timers if row["once"]}
        self.assertEqual(once, {"calibrate", "setup", "warm_up", "verify"})
        kinds = {row["region"].decode(): row["kind"].decode() for row in timers if row["kind"] != b"compute"}
        others = {"pack": "packing", "unpack": "packing"} | dict.fromkeys(("calibrate", "setup", "warm_up", "verify"), "other")
        self.assertEqual(kinds, others | dict.fromkeys(("post", "wait", "reduce"), "communication"))
        table = sorted(tuple(row) for row in run["traffic"])
        self.assertEqual(run["traffic"].dtype.names, ("rank", "neighbour", "messages", "bytes"))
        face = 22 * 8
        self.assertEqual(table, [(0, 1, 1, face), (1, 0, 1, face), (1, 2, 1, face), (2, 1, 1, face)])

    def deck_gives_the_same_deck_again(self, run):
        """On another number of ranks: what was chosen for three is not in it."""
        deck = run.attrs["deck"]
        self.write("again.yaml", deck)
        self.assertEqual(self.passes("again.yaml", "--print-deck").out, deck)
        self.assertIn("process_grid: []", deck)

    def results_are_the_record(self, run):
        results = self.record("plate.json")
        results["overlap"] = int(results["overlap"])
        results["verification"]["passed"] = int(results["verification"]["passed"])
        results["per_rank"]["useful"] = int(results["per_rank"]["useful"])
        self.assertEqual(results, tree(run))

    def ranks_that_share_cores_are_not_set_beside_the_machine(self, run):
        ranks = len(os.sched_getaffinity(0)) + 1
        if ranks > 16:
            self.skipTest("this many cores are not filled for a test")
        if "devices" in run:
            self.skipTest("a GPU computes")
        if ranks > 3:
            run = self.run_deck(PLATE, "more.h5", ranks=ranks)["/run"]
        self.assertEqual(run["calibration"].attrs["oversubscribed"], 1)
        for figure in run["figures_of_merit"].values():
            self.assertEqual(set(figure.attrs), {"name", "unit", "value", "bytes_read", "bytes_written"})

    def assert_figure(self, figure):
        """With a fraction, which is right, or, where others disturbed the calibration, with a remark instead."""
        if "remark" in figure.attrs:
            self.assert_attributes(figure, {**{key: kind for key, kind in FIGURE.items() if key not in ("attainable", "fraction")}, "remark": TEXT})
            return
        self.assert_attributes(figure, FIGURE)
        self.assertAlmostEqual(figure.attrs["fraction"], figure.attrs["value"] / figure.attrs["attainable"])
        self.assertLessEqual(figure.attrs["fraction"], 1.2)

    def test_groups(self):
        run = self.run_deck(PLATE, "plate.h5", ranks=min(2, len(os.sched_getaffinity(0))))["/run"]
        self.assertEqual(run["figure_of_merit"].attrs["name"], "cell_updates")
        for name, figure in run["figures_of_merit"].items():
            self.assert_figure(figure)
            self.assertEqual(figure.attrs["name"], name)
            sweeps = run.attrs["sweeps"] * 26 * 22 * 8
            self.assertEqual((figure.attrs["bytes_read"], figure.attrs["bytes_written"]), (sweeps, sweeps))
        self.assertEqual(run["verification"].attrs["passed"], 1)
        self.assertLessEqual(run["verification"].attrs["error"], run["verification"].attrs["tolerance"])
        machine = run["calibration"].attrs
        self.assertEqual(machine["oversubscribed"], 0)
        self.assertEqual(machine["huge_pages"], 1)
        self.assertTrue(16 * 26 * 22 / 2 < machine["working_set"] <= run.attrs["field_memory"])
        bandwidth = run["figures_of_merit/effective_bandwidth"].attrs
        if "remark" not in bandwidth:
            self.assertAlmostEqual(bandwidth["attainable"] / max(machine["copy_bandwidth"], machine["working_set_copy_bandwidth"]), 1)
        noise = run["noise"].attrs
        self.assertTrue(noise["quantum"] > 0 and 1 <= noise["p50"] <= noise["p99"], dict(noise))
        for name in "gpu", "package":
            self.assertEqual(len({name, f"{name}_remark"} & set(run["energy"].attrs)), 1)

    def test_auto(self):
        """comm/tests has more of choices."""
        file = self.run_deck(PLATE, "auto.h5", "--set", "comm.backend=auto", "--set", "comm.pattern=auto")
        run = file["run"].attrs
        rows = file["run/candidates"][...]
        tried = {tuple(row[key].decode() for key in ("backend", "pattern", "packing")) for row in rows}
        patterns = {"blocking", "nonblocking", "persistent", "neighborhood", "rma"}
        self.assertLessEqual({("view", pattern, "kernel") for pattern in patterns}, tried)
        self.assertIn(("shm", "nonblocking", "kernel"), tried)
        self.assertNotIn("null", {backend for backend, _, _ in tried})
        self.assertTrue((rows["seconds"] > 0).all())
        good = rows[rows["seconds"] <= 1.03 * rows["seconds"].min()]  # of equals the first
        self.assertEqual((run["backend"], run["pattern"]), (good[0]["backend"].decode(), good[0]["pattern"].decode()))
        self.assertRegex(self.said.out, r"tried +pattern +packing +path +us +of fastest\n")
        self.assertRegex(self.said.out, r"\n  (shm|view) +\w+ +(kernel|datatype) +\w+ +[0-9.]+ +1.00\n")

    def test_null_is_not_verified(self):
        file = self.run_deck(PLATE, "null.h5", comm__backend="null", problem__exact="none", solver__tolerance="0", solver__max_sweeps="50")
        self.assertEqual(dict(file["run/verification"].attrs), {"measure": "backend 'null' moves nothing"})
        self.assertIn("\nVERIFICATION OFF: backend 'null' moves nothing\n", self.said.out)

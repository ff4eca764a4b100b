# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""/run of the HDF5 file: what a run tells of itself. docs/record_reference has the types of all entries."""

import os

from recorded import PLATE, RecordTest

FIGURE = {"name": str, "unit": str, **dict.fromkeys("value bytes_read bytes_written attainable fraction".split(), float)}


class Run(RecordTest):
    calibrates = True

    def test_three_ranks(self):
        """One run shows most of the record."""
        run = self.run_of(PLATE, "plate.h5", "--results", "plate.json", ranks=3, comm__backend="view")
        self.assertEqual(run, self.record("plate.json"))
        for check in (self.values, self.tables, self.deck_gives_the_same_deck_again, self.ranks_that_share_cores_are_not_set_beside_the_machine):
            with self.subTest(check.__name__):
                check(run)

    def values(self, run):
        """What was used, not auto."""
        self.assertEqual([run[name] for name in ("app", "ranks", "backend", "pattern", "overlap", "precision", "process_grid")],
                         ["heat", 3, "view", "nonblocking", True, "double", "3 x 1"])
        self.assertIn(run["path"], ("host", "direct", "staged"))
        self.assertEqual("devices" in run, run["path"] != "host")
        self.assertIn(run["packing"], ("kernel", "datatype", "none"))
        self.assertRegex(run["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertRegex(run["command"], r"heat deck\.yaml -o plate\.h5 --results plate\.json --set comm\.backend=view$")
        self.assertEqual((run["cells"], len(run["repeats"])), ([26, 22], 2))

    def tables(self, run):
        timers = run["timers"]
        self.assertLessEqual({"calibrate", "setup", "compute", "wait", "reduce", "verify"}, {row["region"] for row in timers})
        self.assertEqual({row["region"] for row in timers if row["once"]}, {"calibrate", "setup", "warm_up", "verify"})
        kinds = {row["region"]: row["kind"] for row in timers if row["kind"] != "compute"}
        others = {"pack": "packing", "unpack": "packing"} | dict.fromkeys(("calibrate", "setup", "warm_up", "verify"), "other")
        self.assertEqual(kinds, others | dict.fromkeys(("post", "wait", "reduce"), "communication"))
        self.assertEqual(list(run["traffic"][0]), ["rank", "neighbour", "messages", "bytes"])
        face = 22 * 8
        self.assertEqual(sorted(tuple(row.values()) for row in run["traffic"]), [(0, 1, 1, face), (1, 0, 1, face), (1, 2, 1, face), (2, 1, 1, face)])

    def deck_gives_the_same_deck_again(self, run):
        """On another number of ranks: what was chosen for three is not in it."""
        deck = run["deck"]
        self.write("again.yaml", deck)
        self.assertEqual(self.passes("again.yaml", "--print-deck").out, deck)
        self.assertIn("process_grid: []", deck)

    def ranks_that_share_cores_are_not_set_beside_the_machine(self, run):
        ranks = len(os.sched_getaffinity(0)) + 1
        if ranks > 16:
            self.skipTest("this many cores are not filled for a test")
        if "devices" in run:
            self.skipTest("a GPU computes")
        if ranks > 3:
            run = self.run_of(PLATE, "more.h5", ranks=ranks)
        self.assertTrue(run["calibration"]["oversubscribed"])
        for figure in run["figures_of_merit"].values():
            self.assertEqual(set(figure), {"name", "unit", "value", "bytes_read", "bytes_written"})

    def assert_figure(self, figure):
        """With a fraction, which is right, or, where others disturbed the calibration, with a remark instead."""
        kinds = {**FIGURE}
        if "remark" in figure:
            kinds = {key: kind for key, kind in FIGURE.items() if key not in ("attainable", "fraction")} | {"remark": str}
        self.assertEqual({key: type(value) for key, value in figure.items()}, kinds)
        if "remark" not in figure:
            self.assertAlmostEqual(figure["fraction"], figure["value"] / figure["attainable"])
            self.assertLessEqual(figure["fraction"], 1.2)

    def test_groups(self):
        run = self.run_of(PLATE, "plate.h5", ranks=min(2, len(os.sched_getaffinity(0))))
        self.assertEqual(run["figure_of_merit"]["name"], "cell_updates")
        for name, figure in run["figures_of_merit"].items():
            self.assert_figure(figure)
            self.assertEqual(figure["name"], name)
            sweeps = run["sweeps"] * 26 * 22 * 8
            self.assertEqual((figure["bytes_read"], figure["bytes_written"]), (sweeps, sweeps))
        self.assertTrue(run["verification"]["passed"])
        self.assertLessEqual(run["verification"]["error"], run["verification"]["tolerance"])
        machine = run["calibration"]
        self.assertFalse(machine["oversubscribed"])
        self.assertTrue(machine["huge_pages"])
        self.assertTrue(16 * 26 * 22 / 2 < machine["working_set"] <= run["field_memory"])
        bandwidth = run["figures_of_merit"]["effective_bandwidth"]
        if "remark" not in bandwidth:
            self.assertAlmostEqual(bandwidth["attainable"] / max(machine["copy_bandwidth"], machine["working_set_copy_bandwidth"]), 1)
        noise = run["noise"]
        self.assertTrue(noise["quantum"] > 0 and 1 <= noise["p50"] <= noise["p99"], noise)
        self.assertLessEqual(set(run.get("energy", {})), {"gpu", "package"})

    def test_auto(self):
        """comm/tests has more of choices."""
        run = self.run_of(PLATE, "auto.h5", "--set", "comm.backend=auto", "--set", "comm.pattern=auto")
        rows = run["candidates"]
        tried = {(row["backend"], row["pattern"], row["packing"]) for row in rows}
        patterns = {"blocking", "nonblocking", "persistent", "neighborhood", "rma"}
        self.assertLessEqual({("view", pattern, "kernel") for pattern in patterns}, tried)
        self.assertIn(("shm", "nonblocking", "kernel"), tried)
        self.assertNotIn("null", {backend for backend, _, _ in tried})
        self.assertTrue(all(row["seconds"] > 0 for row in rows))
        least = min(row["seconds"] for row in rows)
        good = next(row for row in rows if row["seconds"] <= 1.03 * least)  # of equals the first
        self.assertEqual((run["backend"], run["pattern"]), (good["backend"], good["pattern"]))
        self.assertRegex(self.said.out, r"tried +pattern +packing +path +us +of fastest\n")
        self.assertRegex(self.said.out, r"\n  (shm|view) +\w+ +(kernel|datatype) +\w+ +[0-9.]+ +1.00\n")

    def test_null_is_not_verified(self):
        run = self.run_of(PLATE, "null.h5", comm__backend="null", problem__exact="none", solver__tolerance="0", solver__max_sweeps="50")
        self.assertEqual(run["verification"], {"measure": "backend 'null' moves nothing"})
        self.assertIn("\nVERIFICATION OFF: backend 'null' moves nothing\n", self.said.out)

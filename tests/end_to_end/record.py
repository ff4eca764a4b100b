# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""/run of the HDF5 file: what a run tells of itself. docs/record_reference has the types of all entries."""

import os

from launch import RecordTest

PLATE = RecordTest.PLATE
BARE = {"name": str, "unit": str, "value": float, "bytes_read": float, "bytes_written": float}  # a figure
CORES = len(os.sched_getaffinity(0))


class Run(RecordTest):
    calibrates = True

    def test_three_ranks(self):
        """One run shows most of the record."""
        words = ("--results", "plate.json", "--set", "comm.backend=view")
        run = self.run_of(PLATE, "plate.h5", *words, ranks=3)
        self.assertEqual(run, self.record("plate.json"))
        for check in (self.values, self.tables, self.deck_gives_the_same_deck_again, self.cores_that_ranks_share):
            with self.subTest(check.__name__):
                check(run)

    def values(self, run):
        """What was used, not auto."""
        used = {"app": "heat", "ranks": 3, "backend": "view", "pattern": "nonblocking", "overlap": True,
                "precision": "double", "process_grid": "3 x 1", "cells": [26, 22]}
        self.assertEqual({name: run[name] for name in used}, used)
        self.assertIn(run["path"], ("host", "direct", "staged"))
        self.assertEqual("devices" in run, run["path"] != "host")
        self.assertIn(run["packing"], ("kernel", "datatype", "none"))
        self.assertRegex(run["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        words = r"heat deck\.yaml -o plate\.h5 --results plate\.json --set comm\.backend=view$"
        self.assertRegex(run["command"], words)
        self.assertEqual(len(run["repeats"]), 2)

    def tables(self, run):
        timers, once = run["timers"], ("calibrate", "setup", "warm_up", "verify")
        self.assertLessEqual({*once, "compute", "wait", "reduce"}, {row["region"] for row in timers})
        self.assertEqual({row["region"] for row in timers if row["once"]}, set(once))
        kinds = {row["region"]: row["kind"] for row in timers if row["kind"] != "compute"}
        communication = dict.fromkeys(("post", "wait", "reduce"), "communication")
        packing = dict.fromkeys(("pack", "unpack"), "packing")
        self.assertEqual(kinds, {**packing, **dict.fromkeys(once, "other"), **communication})
        face = 22 * 8
        self.assertEqual(list(run["traffic"][0]), ["rank", "neighbour", "messages", "bytes"])
        self.assertEqual(sorted(tuple(row.values()) for row in run["traffic"]),
                         [(0, 1, 1, face), (1, 0, 1, face), (1, 2, 1, face), (2, 1, 1, face)])

    def deck_gives_the_same_deck_again(self, run):
        """On another number of ranks: what was chosen for three is not in it."""
        self.write("again.yaml", run["deck"])
        self.assertEqual(self.passes("again.yaml", "--print-deck").out, run["deck"])
        self.assertIn("process_grid: []", run["deck"])

    def cores_that_ranks_share(self, run):
        """Their figures are not compared with the machine."""
        if CORES > 15 or "devices" in run:
            self.skipTest("this many cores are not filled for a test" if CORES > 15 else "a GPU computes")
        if CORES > 2:
            run = self.run_of(PLATE, "more.h5", ranks=CORES + 1)
        self.assertTrue(run["calibration"]["oversubscribed"])
        for figure in run["figures_of_merit"].values():
            self.assertEqual(figure.keys(), BARE.keys())

    def test_groups(self):
        run = self.run_of(PLATE, "plate.h5", ranks=min(2, CORES))
        self.assertEqual(run["figure_of_merit"]["name"], "cell_updates")
        moved = run["sweeps"] * 26 * 22 * 8
        for name, figure in run["figures_of_merit"].items():
            disturbed = "remark" in figure  # the calibration: there is no fraction
            kinds = BARE | {"remark": str} if disturbed else BARE | {"attainable": float, "fraction": float}
            self.assertEqual({key: type(value) for key, value in figure.items()}, kinds)
            self.assertEqual((figure["name"], figure["bytes_read"], figure["bytes_written"]), (name, moved, moved))
            if not disturbed:
                self.assertAlmostEqual(figure["fraction"], figure["value"] / figure["attainable"])
                self.assertLessEqual(figure["fraction"], 1.2)
        self.assertTrue(run["verification"]["passed"])
        self.assertLessEqual(run["verification"]["error"], run["verification"]["tolerance"])
        machine = run["calibration"]
        self.assertFalse(machine["oversubscribed"])
        self.assertTrue(machine["huge_pages"])
        self.assertTrue(16 * 26 * 22 / 2 < machine["working_set"] <= run["field_memory"])
        bandwidth = run["figures_of_merit"]["effective_bandwidth"]
        if "remark" not in bandwidth:
            best = max(machine["copy_bandwidth"], machine["working_set_copy_bandwidth"])
            self.assertAlmostEqual(bandwidth["attainable"] / best, 1)
        noise = run["noise"]
        self.assertTrue(noise["quantum"] > 0 and 1 <= noise["p50"] <= noise["p99"], noise)
        self.assertLessEqual(set(run.get("energy", {})), {"gpu", "package"})

    def test_auto(self):
        """comm/tests has more of choices."""
        run = self.run_of(PLATE, "auto.h5", "--set", "comm.backend=auto", "--set", "comm.pattern=auto")
        rows = run["candidates"]
        tried = {(row["backend"], row["pattern"], row["packing"]) for row in rows}
        patterns = {"blocking", "nonblocking", "persistent", "neighborhood", "alltoall", "rma"}
        self.assertLessEqual({("shm", "nonblocking", "kernel"), *(("view", one, "kernel") for one in patterns)}, tried)
        self.assertNotIn("null", {backend for backend, _, _ in tried})
        self.assertTrue(all(row["seconds"] > 0 for row in rows))
        least = min(row["seconds"] for row in rows)
        good = next(row for row in rows if row["seconds"] <= 1.03 * least)  # of equals the first
        self.assertEqual((run["backend"], run["pattern"]), (good["backend"], good["pattern"]))
        self.assertRegex(self.said.out, r"tried +pattern +packing +path +us +of fastest\n")
        self.assertRegex(self.said.out, r"\n  (shm|view) +\w+ +(kernel|datatype) +\w+ +[0-9.]+ +1.00\n")

    def test_null_is_not_verified(self):
        keys = {"problem__exact": "none", "solver__tolerance": 0, "solver__max_sweeps": 50}
        run = self.run_of(PLATE, "null.h5", comm__backend="null", **keys)
        self.assertEqual(run["verification"], {"measure": "backend 'null' moves nothing"})
        self.assertIn("\nVERIFICATION OFF: backend 'null' moves nothing\n", self.said.out)

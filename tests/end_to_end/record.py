# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""/run of the HDF5 file: what a run tells of itself. record_page_test.py has all entries, docs/facts the
formula of what is attainable."""

import os

from launch import RecordTest

PLATE = RecordTest.PLATE
CORES = len(os.sched_getaffinity(0))


class Run(RecordTest):
    calibrates = True

    def test_three_ranks(self):
        """Values are what was used, not auto; the deck gives the same deck again on another number of ranks."""
        words = ("--results", "plate.json", "--set", "comm.backend=view")
        run = self.run_of(PLATE, "plate.h5", *words, ranks=3)
        self.assertEqual(run, self.record("plate.json"))
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
        timers, once = run["timers"], {"calibrate", "setup", "warm_up", "verify"}
        self.assertEqual({row["region"] for row in timers if row["once"]}, once)
        of_kind = {"communication": {"post", "wait", "reduce"}, "packing": {"pack", "unpack"}, "other": once}
        for kind, regions in of_kind.items():
            self.assertEqual({row["region"] for row in timers if row["kind"] == kind}, regions)
        self.assertIn("compute", {row["region"] for row in timers})
        face = 22 * 8
        self.assertEqual(sorted(tuple(row.values()) for row in run["traffic"]),
                         [(0, 1, 1, face), (1, 0, 1, face), (1, 2, 1, face), (2, 1, 1, face)])
        self.write("again.yaml", run["deck"])
        self.assertEqual(self.passes("again.yaml", "--print-deck").out, run["deck"])
        self.assertIn("process_grid: []", run["deck"])

    def test_cores_that_ranks_share(self):
        """Their figures are not compared with the machine, others are."""
        for ranks in min(2, CORES), CORES + 1:
            if ranks > 15:
                self.skipTest("this many cores are not filled for a test")
            run = self.run_of(PLATE, f"{ranks}.h5", ranks=ranks)
            if "devices" in run:
                self.skipTest("a GPU computes")
            machine, shared = run["calibration"], ranks > CORES
            self.assertEqual(machine["oversubscribed"], shared)
            self.assertEqual(run["figure_of_merit"]["name"], "cell_updates")
            moved = run["sweeps"] * 26 * 22 * 8
            for figure in run["figures_of_merit"].values():
                self.assertEqual((figure["bytes_read"], figure["bytes_written"]), (moved, moved))
                compared = {"attainable", "fraction", "remark"} & figure.keys()
                self.assertIn(compared, [set()] if shared else [{"attainable", "fraction"}, {"remark"}])
                self.assertLessEqual(figure.get("fraction", 1), 1.2)
            self.assertLessEqual(run["verification"]["error"], run["verification"]["tolerance"])
            self.assertTrue(machine["huge_pages"])
            self.assertTrue(16 * 26 * 22 / 2 < machine["working_set"] <= run["field_memory"])
            self.assertTrue(run["noise"]["quantum"] > 0 and 1 <= run["noise"]["p50"] <= run["noise"]["p99"])
            self.assertLessEqual(set(run.get("energy", {})), {"gpu", "package"})

    def test_auto(self):
        """comm/tests has what is chosen."""
        run = self.run_of(PLATE, "auto.h5", "--set", "comm.backend=auto", "--set", "comm.pattern=auto")
        rows = run["candidates"]
        tried = {(row["backend"], row["pattern"], row["packing"]) for row in rows}
        patterns = {"blocking", "nonblocking", "persistent", "neighborhood", "alltoall", "two_hop", "rma"}
        self.assertLessEqual({("shm", "nonblocking", "kernel"), *(("view", one, "kernel") for one in patterns)}, tried)
        self.assertNotIn("null", {backend for backend, _, _ in tried})
        self.assertIn((run["backend"], run["pattern"], run["packing"]), tried)
        self.assertRegex(self.said.out, r"\n  (shm|view) +\w+ +(kernel|datatype) +\w+ +[0-9.]+ +1.00\n")

    def test_null_is_not_verified(self):
        keys = {"problem__exact": "none", "solver__tolerance": 0, "solver__max_sweeps": 50}
        run = self.run_of(PLATE, "null.h5", comm__backend="null", measure__calibrate="false", **keys)
        self.assertEqual(run["verification"], {"measure": "backend 'null' moves nothing"})
        self.assertIn("\nVERIFICATION OFF: backend 'null' moves nothing\n", self.said.out)

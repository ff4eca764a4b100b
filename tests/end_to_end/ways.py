# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choices left to auto, and backends that do less or other than their name says at first sight."""

from recorded import PLATE, RecordTest

SHORT = PLATE.replace("tolerance: 1.0e-9", "tolerance: 0, max_sweeps: 50").replace('  exact: "sin(pi*x)*sinh(pi*y)/sinh(pi/2)"\n', "")


class Auto(RecordTest):
    def test_everything(self):
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

    def test_nothing_left_open(self):
        file = self.run_deck(PLATE, "raw.h5", "--set", "comm.packing=kernel")
        self.assertNotIn("candidates", file["run"])
        self.assertEqual(file["run"].attrs["backend"], "raw")


class Null(RecordTest):
    def test_is_not_verified(self):
        file = self.run_deck(SHORT, "null.h5", "--set", "comm.backend=null")
        self.assertEqual(dict(file["run/verification"].attrs), {"measure": "backend 'null' moves nothing"})
        self.assertIn("figure_of_merit", file["run"])
        self.assertIn("\nVERIFICATION OFF: backend 'null' moves nothing\n", self.said.out)
        self.assertNotIn("PASSED", self.said.out)


class Nodes(RecordTest):
    REMARK = ("the ranks are on 2 nodes; shared memory carries messages within a node, and nonblocking MPI those between "
              "nodes")

    def test_several(self):
        file = self.run_deck(PLATE, "shm.h5", "--set", "comm.backend=shm", "--set", "comm.ranks_per_node=2", ranks=3)
        self.assertEqual(file["run"].attrs["backend_remark"], self.REMARK)
        self.assertIn(f"heat: backend shm: {self.REMARK}\n", self.said.err)

    def test_one(self):
        file = self.run_deck(PLATE, "shm.h5", "--set", "comm.backend=shm")
        self.assertEqual(file["run"].attrs["backend_remark"], "")

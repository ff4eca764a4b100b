# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that fail by order: MPI's on one rank, where the others wait for it in theirs, and all that ask for memory."""

import os
import unittest

from launch import BIN, HeatTest, preload

FAULTS = os.environ.get("KONTOR_FAULTS", "")  # tests/faults as a shared library

DECK = """\
app: heat
problem:
  cells: [24, 20]
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
solver: {tolerance: 0, max_sweeps: 4}
comm: {patience: 0.5}
"""


class FaultTest(HeatTest):
    deck = DECK

    def setUp(self):
        if not os.path.exists(FAULTS):
            self.skipTest("KONTOR_FAULTS does not name the library of tests/faults")
        super().setUp()
        self.write("deck.yaml", self.deck)

    def run_with(self, function, *arguments, ranks=1, variables={}, **more):
        variables = {**variables, "LD_PRELOAD": preload(FAULTS), "KONTOR_FAULT_CALL": function, "KONTOR_FAULT_DO": "error"}
        variables |= {f"KONTOR_FAULT_{name}": str(value) for name, value in more.items()}
        return self.heat("deck.yaml", *arguments, ranks=ranks, variables=variables)


class FailedCalls(FaultTest):
    def fails(self, function, *arguments, **more):
        """What is said by a run in which it does, with exit code 3."""
        result = self.run_with(function, *arguments, **more)
        self.assertEqual(result.code, 3, result)
        self.assertNotIn("deck.h5", self.files())
        return result.err

    def test_the_rank_whose_window_is_not_made_tells_and_all_end(self):
        for function, method in ("MPI_Win_allocate", "comm.pattern=rma"), ("MPI_Win_allocate_shared", "comm.backend=shm"):
            with self.subTest(function):
                self.assertRegex(self.fails(function, "--set", method, ranks=2, RANK=1), rf"(?m)^rank 1: .*{function} failed: .*MPI_ERR_OTHER")

    def test_the_rank_whose_window_is_not_freed_tells_and_all_end(self):
        for method in "comm.pattern=rma", "comm.backend=shm":
            with self.subTest(method):
                result = self.run_with("MPI_Win_free", "--set", method, ranks=2, RANK=1)
                self.assertEqual(result.code, 3, result)
                self.assertRegex(result.err, r"(?m)^rank 1: MPI_Win_free failed: .*MPI_ERR_OTHER")

    def test_a_checkpoint_that_does_not_get_to_the_disk_has_no_name(self):
        for rank in 0, 1:
            with self.subTest(rank):
                said = self.fails("fsync", "--set", "checkpoint.every=2", ranks=2, RANK=rank, REPEAT=1)
                self.assertRegex(said, "checkpoint after step 2: .*fsync failed: Input/output error")
                self.assertEqual([file for file in self.files() if "checkpoint" in file], [])

    def test_a_rank_that_is_not_known_makes_no_checkpoint(self):
        """MPI_Comm_rank at each place that only checkpoints come to: who does not know its rank must not take itself for rank 0."""
        checkpoints = ("--set", "solver.check_every=1", "--set", "checkpoint.every=2")
        sites = self.sites("MPI_Comm_rank", *checkpoints) - self.sites("MPI_Comm_rank", *checkpoints[:2])
        self.assertTrue(sites)
        for site in sites:
            with self.subTest(site):
                said = self.fails("MPI_Comm_rank", *checkpoints, ranks=2, RANK=1, SITE=site)
                self.assertRegex(said, r"(?m)^rank 1: .*MPI_Comm_rank failed: .*MPI_ERR_OTHER")
                self.assertEqual([file for file in self.files() if file.endswith(".h5")], [])

    def sites(self, function, *arguments):
        """Where a plain run calls it from."""
        trace = self.folder / "trace"
        self.passes("deck.yaml", *arguments, ranks=2, variables={"LD_PRELOAD": preload(FAULTS), "KONTOR_FAULT_TRACE": str(trace)})
        calls = [line.split() for line in (self.folder / "trace.1").read_text().splitlines()]
        self.remove("*.h5", "trace.*")
        return {site for name, site, _ in calls if name == function}

    @unittest.skipIf("KONTOR_SANITIZER_LIBRARY" in os.environ, "a sanitizer has an operator new of its own")
    def test_no_memory_from_some_moment_on(self):
        for number in 500, 3000:
            with self.subTest(number):
                self.assertRegex(self.fails("new", NUMBER=number, REPEAT=1), "^rank 0: out of memory")

    def test_an_exit_handler_that_does_not_come_back(self):
        """The run ends with its own exit code all the same."""
        result = self.run_with("exit", ranks=2, RANK=1)
        self.assertEqual(result.code, 0, result)


class LeftFiles(FaultTest):
    """matmul makes a temporary XDMF file that it has no use for."""

    program = os.environ.get("KONTOR_MATMUL", str(BIN / "matmul"))
    deck = "app: matmul\nproblem: {m: 8}\n"

    def test_a_temporary_file_that_cannot_be_removed_is_left_to_the_next_run(self):
        """Unless the run has told of it: it is the new file, which could not take its name."""
        told = ""
        for number in range(8, 14):
            with self.subTest(number):
                told += self.run_with("fstat", DO=5, NUMBER=number, FOLDER=self.folder).err
                self.passes("deck.yaml")
                left = [name for name in self.files() if not (name.endswith(".tmp") and name in told)]
                self.assertEqual(left, ["deck.h5", "deck.yaml"])
        self.assertIn("Input/output error", told)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that fail by order, in ways that tests/torture does not try."""

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
    @unittest.skipIf("KONTOR_SANITIZER_LIBRARY" in os.environ, "a sanitizer has an operator new of its own")
    def test_no_memory_from_some_moment_on(self):
        for number in 500, 3000:
            with self.subTest(number):
                result = self.run_with("new", NUMBER=number, REPEAT=1)
                self.assertEqual(result.code, 3, result)
                self.assertRegex(result.err, "^rank 0: out of memory")
                self.assertNotIn("deck.h5", self.files())

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

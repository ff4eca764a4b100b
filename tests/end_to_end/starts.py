# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks that never find each other: the others do not wait for ever. And failures that tests/torture does not try."""

import os
import unittest

from launch import HeatTest, preload, starts_several_programs

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


class StartTest(HeatTest):
    def setUp(self):
        super().setUp()
        self.write("deck.yaml", DECK)

    def check_given_up(self, result, words, seconds):
        self.assertEqual(result.code, 3, result)
        self.assertRegex(result.err, rf"rank \d: .*{words}.* {seconds} s.*KONTOR_START_SECONDS")
        self.assertEqual(self.files(), ["deck.yaml"])


@unittest.skipUnless(os.path.exists(FAULTS), "KONTOR_FAULTS does not name the library of tests/faults")
class FailedCalls(StartTest):
    def run_with(self, function, ranks=1, variables={}, **more):
        variables = {**variables, "LD_PRELOAD": preload(FAULTS), "KONTOR_FAULT_CALL": function}
        variables |= {f"KONTOR_FAULT_{name}": str(value) for name, value in more.items()}
        return self.heat("deck.yaml", ranks=ranks, variables=variables)

    def test_first_messages_that_do_not_come(self):
        """Rank 1 stops itself before the first of them."""
        result = self.run_with("MPI_Bcast", ranks=2, variables={"KONTOR_START_SECONDS": "3"}, DO="pause", RANK=1)
        self.check_given_up(result, "first messages", 3)

    @unittest.skipIf("KONTOR_SANITIZER_LIBRARY" in os.environ, "a sanitizer has an operator new of its own")
    def test_no_memory_from_some_moment_on(self):
        for number in 500, 3000:
            with self.subTest(number):
                result = self.run_with("new", DO="error", NUMBER=number, REPEAT=1)
                self.assertEqual(result.code, 3, result)
                self.assertRegex(result.err, "^rank 0: out of memory")
                self.assertNotIn("deck.h5", self.files())

    def test_an_exit_handler_that_does_not_come_back(self):
        """The run ends with its own exit code all the same."""
        result = self.run_with("exit", ranks=2, RANK=1)
        self.assertEqual(result.code, 0, result)


class Starts(StartTest):
    @unittest.skipUnless(starts_several_programs(), "this mpirun does not start several programs")
    def test_a_process_that_does_not_start_mpi(self):
        result = self.heat("deck.yaml", ":", "-n", "1", "sleep", "60", variables={"KONTOR_START_SECONDS": "1"})
        self.check_given_up(result, "MPI_Init", 1)

    def test_runs_may_take_longer(self):
        """The limit is that of the start alone."""
        long = DECK.replace("max_sweeps: 4", "max_sweeps: 12000, check_every: 0").replace("[24, 20]", "[600, 400]")
        self.write("deck.yaml", long)
        self.passes("deck.yaml", limit=150, variables={"KONTOR_START_SECONDS": "1"})

    def test_number_of_seconds(self):
        for text in "soon", "-1", "1e3", "", "1000000":
            result = self.ends(2, "deck.yaml", ranks=2, variables={"KONTOR_START_SECONDS": text})
            self.names(result.err, "E-USAGE-OPTION", f"KONTOR_START_SECONDS is '{text}'", "999999")
        self.passes("deck.yaml", variables={"KONTOR_START_SECONDS": "0"})

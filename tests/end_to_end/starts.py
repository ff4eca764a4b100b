# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks that never find each other: the others do not wait for ever."""

import unittest

from failed_calls import DECK, FaultTest
from launch import HeatTest, starts_several_programs


def check_given_up(test, result, words, seconds):
    test.assertEqual(result.code, 3, result)
    test.assertRegex(result.err, rf"rank \d: .*{words}.* {seconds} s.*KONTOR_START_SECONDS")
    test.assertEqual(test.files(), ["deck.yaml"])


class FirstMessages(FaultTest):
    def test_that_do_not_come(self):
        """Rank 1 stops itself before the first of them."""
        result = self.run_with("MPI_Bcast", ranks=2, variables={"KONTOR_START_SECONDS": "3"}, DO="pause", RANK=1)
        check_given_up(self, result, "first messages", 3)


class Starts(HeatTest):
    def setUp(self):
        super().setUp()
        self.write("deck.yaml", DECK)

    @unittest.skipUnless(starts_several_programs(), "this mpirun does not start several programs")
    def test_a_process_that_does_not_start_mpi(self):
        result = self.heat("deck.yaml", ":", "-n", "1", "sleep", "60", variables={"KONTOR_START_SECONDS": "1"})
        check_given_up(self, result, "MPI_Init", 1)

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

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks that never find each other: the others do not wait for ever."""

import os
import unittest

from failed_calls import DECK, FAULTS
from launch import HeatTest


class Starts(HeatTest):
    def setUp(self):
        super().setUp()
        self.write("deck.yaml", DECK)

    def assert_given_up(self, result, words, seconds=1):
        self.assertEqual(result.code, 3, result)
        self.assertRegex(result.err, rf"rank \d: .*{words}.* {seconds} s.*KONTOR_START_SECONDS")
        self.assertEqual(self.files(), ["deck.yaml"])

    def test_a_process_that_does_not_start_mpi(self):
        result = self.heat("deck.yaml", ":", "-n", "1", "sleep", "60", variables={"KONTOR_START_SECONDS": "1"})
        self.assert_given_up(result, "MPI_Init")

    @unittest.skipUnless(os.path.exists(FAULTS), "KONTOR_FAULTS does not name the library of tests/faults")
    def test_first_messages_that_do_not_come(self):
        """Rank 1 stops itself before the first of them."""
        preloaded = ":".join(filter(None, [FAULTS, os.environ.get("LD_PRELOAD")]))
        result = self.heat("deck.yaml", ranks=2, variables={
            "KONTOR_START_SECONDS": "4", "LD_PRELOAD": preloaded, "KONTOR_FAULT_CALL": "MPI_Bcast", "KONTOR_FAULT_DO": "pause", "KONTOR_FAULT_RANK": "1"})
        self.assert_given_up(result, "first messages", seconds=4)

    def test_runs_may_take_longer(self):
        """The limit is that of the start alone."""
        long = DECK.replace("max_sweeps: 4", "max_sweeps: 25000, check_every: 0").replace("[24, 20]", "[600, 400]")
        self.write("deck.yaml", long)
        self.passes("deck.yaml", variables={"KONTOR_START_SECONDS": "2"})

    def test_number_of_seconds(self):
        for text in "soon", "-1", "1e3", "", "1000000":
            result = self.heat("deck.yaml", ranks=2, variables={"KONTOR_START_SECONDS": text})
            self.assertEqual(result.code, 2, result)
            self.assertEqual(result.err.count(f"KONTOR_START_SECONDS is '{text}'; allowed is a whole number"), 1, result)
        self.passes("deck.yaml", variables={"KONTOR_START_SECONDS": "0"})


if __name__ == "__main__":
    unittest.main()

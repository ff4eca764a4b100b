# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A limit of file sizes, and problems that do not fit into memory."""

import shutil
import unittest

from fault_case import SHORT, FaultTest
from launch import HEAT


@unittest.skipUnless(shutil.which("prlimit"), "no prlimit (util-linux)")
class FileSizeLimit(FaultTest):
    program = shutil.which("prlimit")

    def limited(self, limit, *arguments, ranks):
        return self.heat(f"--fsize={limit}", HEAT, *arguments, ranks=ranks)

    def test_is_an_error_that_is_told(self):
        self.write("short.yaml", SHORT)
        large = ("--set", "problem.cells=[1100,1000]", "--set", "solver.max_sweeps=1")
        cases = (30_000, 1, ()), (8_000_000, 3, large)
        for limit, ranks, arguments in cases:
            with self.subTest(ranks=ranks):
                if self.limited(limit, "--list-backends", ranks=ranks).code != 0:
                    continue  # this MPI itself makes larger files
                result = self.limited(limit, "short.yaml", *arguments, ranks=ranks)
                if "shared memory initialization" in result.err:
                    continue  # nor does this one, which says so while it runs
                self.assertEqual(result.code, 3, result)
                self.assertRegex(result.err, r"(?m)^output: plate\.h5: .*File too large.*; no file was replaced \[E-FILE-WRITE\]$")
                self.assert_intact()
                self.assertEqual(self.files(), ["plate.h5", "short.yaml"])


class OutOfMemory(FaultTest):
    def test_a_problem_that_does_not_fit(self):
        for ranks in 1, 3:
            self.write("deck.yaml", SHORT.replace("[96, 80]", "[10000000, 10000000]"))
            result = self.ends(3, "deck.yaml", ranks=ranks, limit=20)
            self.names(result.err, "E-MEMORY", "rank 0 on ", "View 'heat/u'", "View 'heat/v'", "1.6e+06 GB")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A full disk, a limit of file sizes, and problems that do not fit into memory."""

import os
import shutil
import unittest

from fault_case import EARLIER, ENOSPC, SHORT, FaultTest
from launch import HEAT, preload


class FullDisk(FaultTest):
    def setUp(self):
        if not os.path.exists(ENOSPC):
            self.skipTest("KONTOR_ENOSPC does not name the library of output/tests/enospc.c")
        super().setUp()

    def run_out_of_space(self, room, ranks, access, only=None, file=".h5."):
        """After `room` bytes, of which the field alone takes 61440; on all ranks, or on one."""
        self.write("short.yaml", SHORT)
        for name in "plate.xmf", "plate.json":
            self.write(name, "earlier")
        variables = {"LD_PRELOAD": preload(ENOSPC), "KONTOR_FAULT_AFTER": str(room), "KONTOR_FAULT_FILE": file}
        if only is not None:
            variables["KONTOR_FAULT_RANK"] = str(only)
        arguments = "short.yaml", "--set", f"output.access={access}", "--results", "plate.json"
        result = self.ends(3, *arguments, ranks=ranks, variables=variables)
        said = [line for line in result.err.splitlines() if not line.startswith("mca_")]  # Open MPI's own lines
        self.assertEqual(len(said), 1, result)
        self.assertNotIn("FOM", result.out)
        self.assertEqual(self.output.read_bytes(), EARLIER)
        for name in "plate.xmf", "plate.json":
            self.assertEqual((self.folder / name).read_text(), "earlier")
        self.assertEqual(self.files(), ["plate.h5", "plate.json", "plate.xmf", "short.yaml"])
        return said[0]

    def test_for_what_describes_the_file(self):
        for name in "plate.xmf", "plate.json":
            with self.subTest(name):
                said = self.run_out_of_space(100, 3, "parallel", file=name)
                self.assertRegex(said, rf"^output: {name}: .*: No space left on device.*; no file was replaced \[E-FILE-WRITE\]$")

    def test_where_rank_0_writes_all(self):
        for ranks, room in (1, 0), (1, 61_440), (3, 0), (3, 1000), (3, 30_000), (3, 61_440):
            with self.subTest(ranks=ranks, room=room):
                said = self.run_out_of_space(room, ranks, "gathered")
                self.assertRegex(said, r"^output: plate\.h5: .*: No space left on device.*; no file was replaced \[E-FILE-WRITE\]$")

    def test_where_all_ranks_write(self):
        for room in 0, 1000:
            with self.subTest(room=room):
                said = self.run_out_of_space(room, 3, "parallel")
                self.assertRegex(said, r"^output: plate\.h5: .*No space left on device.*; no file was replaced \[E-FILE-WRITE\]$")

    def test_messages_of_a_name_with_control_characters(self):
        """They reach no terminal."""
        self.write("short.yaml", SHORT)
        variables = {"LD_PRELOAD": preload(ENOSPC), "KONTOR_FAULT_AFTER": "1000", "KONTOR_FAULT_FILE": ".h5."}
        options = "-o", "\x1b[2Jplate.h5", "--set", "output.fields=none"  # an XDMF file could not name it
        result = self.ends(3, "short.yaml", *options, variables=variables)
        self.assertNotIn("\x1b", result.err)
        self.assertRegex(result.err, r"(?m)^output: \\x1b\[2Jplate\.h5: .*No space left on device")

    def test_of_the_last_rank_only(self):
        said = self.run_out_of_space(0, 3, "parallel", only=2)
        self.assertRegex(said, r"^output: plate\.h5: .*No space left on device \(on rank 2\); no file was replaced \[E-FILE-WRITE\]$")


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


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What heat says on stdout."""

import os
import re
import subprocess

from launch import ENVIRONMENT, HEAT, HeatTest
from recorded import PLATE

WITHOUT = ("--set", "measure.calibrate=false")


class Sayings(HeatTest):
    calibrates = True

    def run_plate(self, *arguments):
        self.write("deck.yaml", PLATE)
        return self.passes("deck.yaml", *WITHOUT, *arguments, ranks=2)

    def test_quiet(self):
        said = self.run_plate("--quiet")
        self.assertRegex(
            said.out,
            r"\AFOM cell_updates = \S+ 1/s\nFOM effective_bandwidth = \S+ B/s\nVERIFICATION PASSED\n\Z",
        )
        self.assertEqual(said.err, "")

    def test_table(self):
        said = self.run_plate()
        self.assertRegex(said.out, r"\Aheat on 2 ranks as \d x \d, double, ")
        self.assertEqual(said.out.count("VERIFICATION"), 1)

    def told(self, *arguments):
        """What `heat` tells, once, on several ranks and without leaving a file."""
        before = self.files()
        result = self.passes(*arguments, ranks=2)
        self.assertEqual(result.err, "")
        self.assertEqual(self.files(), before)
        return result.out

    def test_help(self):
        text = self.told("--help")
        self.assertTrue(text.startswith("Heat conduction"), text)
        self.assertEqual(text.count("Usage: "), 1)
        for option in "--set", "--output", "--results", "--print-deck", "--schema", "--list-backends", "--quiet":
            self.assertIn(option, text)
        self.assertNotIn("kokkos", text.lower())

    def test_version(self):
        self.assertRegex(self.told("--version"), r"\Aheat of Kontor \d+\.\d+\.\d+ \(\S+\)\n\Z")

    def test_list_backends(self):
        lines = self.told("--list-backends").splitlines()
        self.assertLessEqual({"raw", "view"}, {line.split()[0] for line in lines})
        for line in lines:
            self.assertTrue(re.search(r"^auto|(built|not built) ", line), line)

    def test_stdout_is_full(self):
        """Without a launcher, which would stand between."""
        self.write("deck.yaml", PLATE)
        for words in (["--help"], ["--schema"], ["--list-backends"], ["deck.yaml", "--print-deck"], ["deck.yaml", *WITHOUT]):
            with self.subTest(words), open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([HEAT, *words], cwd=self.folder, env={**os.environ, **ENVIRONMENT}, stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=30, check=False)
                self.assertEqual(done.stderr, "rank 0: stdout cannot be written: No space left on device [E-FILE-WRITE]\n")
                self.assertEqual(done.returncode, 3)
        self.assertIn("plate.h5", self.files(), "the run itself was complete")

    def test_print_deck(self):
        self.write("deck.yaml", PLATE)
        first = self.told("deck.yaml", "--print-deck")
        self.assertIn('file: "plate.h5"', first)
        self.write("printed.yaml", first)
        self.assertEqual(self.told("printed.yaml", "--print-deck"), first)

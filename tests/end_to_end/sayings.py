# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What heat says on stdout."""

import os
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

    def test_what_is_asked_for(self):
        """docs/cli_reference has every option of the help."""
        self.write("deck.yaml", PLATE)
        for words, pattern in (
            (["--help"], r"\AHeat conduction(?!.*[kK]okkos).* --print-deck"),
            (["--version"], r"\Aheat of Kontor \d+\.\d+\.\d+ \(\S+\)\n\Z"),
            (["--list-backends"], r"\A(?=.*\braw )(?=.*\bview )(auto.*?\n|[a-z]+ +(not )?built .*?\n)+\Z"),
            (["--schema"], r"\A\{.*json-schema.org"),
            (["deck.yaml", "--print-deck"], r'\n  file: "plate.h5"\n'),
        ):
            with self.subTest(words):
                self.assertRegex(self.told(*words), f"(?s){pattern}")

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

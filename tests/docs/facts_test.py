# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statements of pages that programs or sources decide."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from prose import fenced_blocks

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KONTOR_BUILD_DIR", ROOT / "build")).resolve()
NUMBERS = ("no", "one", "two", "three", "four", "five")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def shape(line):
    """The line without its numbers and paddings."""
    return " ".join(re.sub(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?|nan", "0", line).split())


class Facts(unittest.TestCase):
    def test_sample_output(self):
        text, _ = self.run_of("heat", "plate", "problem.cells=[64,64]")
        printed = [shape(line) for line in text.splitlines()]
        [sample] = [block for block in fenced_blocks(ROOT / "docs/quickstart.md") if block.language == "text"]
        for line in sample.text.splitlines():
            begin, _, rest = line.partition("...")
            here = re.sub(r", huge pages|, path host|Serial$|OpenMP$", "", shape(begin)).strip()
            there = [re.sub(r", huge pages|, path host|Serial$|OpenMP$", "", text).strip() for text in printed]
            with self.subTest(line=line):
                self.assertTrue(any(text.startswith(here) if "..." in line else text == here for text in there), there)

    def test_comparison_of_the_readme(self):
        """Its table and its chart are of tests/docs/compare.json."""
        with tempfile.TemporaryDirectory() as folder:
            chart = Path(folder, "compare.svg")
            words = [str(ROOT / "scripts/kontor"), "compare", str(ROOT / "tests/docs/compare.json"), "--plot", str(chart)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if "E-REPORT-PACKAGE" in done.stderr:
                self.skipTest(done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
            drawn = chart.read_text(encoding="utf-8")
        _, *table, advice = [line.strip() for line in done.stdout.splitlines()]
        readme = read("README.md")
        self.assertIn("\n".join(table), "\n".join(line.strip() for line in readme.splitlines()))
        self.assertIn(re.search("`(comm: .*?)`", advice)[1], readme)
        texts = [re.findall("<text[^>]*>([^<]*(?:, |saves)[^<]*)</text>", svg) for svg in (drawn, read("docs/images/compare.svg"))]
        self.assertTrue(texts[0])
        self.assertEqual(*texts)

    def run_of(self, app, deck, *keys):
        """What a run on two ranks prints, and the bytes of its file."""
        command = ["mpirun", "-n", "2", BUILD / "bin" / app, ROOT / f"inputs/{app}/{deck}.yaml", "-o", "plate.h5"]
        with tempfile.TemporaryDirectory() as folder:
            command += [word for key in keys for word in ("--set", key)]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout, (Path(folder) / "plate.h5").read_bytes()

    def test_vtkhdf(self):
        """docs/reference/record.md: fields on a mesh have the group, others do not."""
        small = "problem.cells=[16,16]"
        for with_it, run in ((True, ("heat", "plate", small)), (False, ("heat", "plate", small, "output.fields=none")),
                             (False, ("cg", "matrix-market"))):
            with self.subTest(run=run):
                self.assertEqual(b"VTKHDF" in self.run_of(*run)[1], with_it)

    def test_limit_of_fractions(self):
        limit = re.search(r"largest_fraction = ([\d.]+);", read("miniapps/run/record/result.hpp")).group(1)
        self.assertIn(f"A fraction above {limit} is an error", read("docs/reference/figures.md"))

    def test_counts_of_cg(self):
        reference = read("docs/reference/decks.md").partition("\n## cg\n")[2]
        for key, noun in (("method", "methods"), ("format", "matrix formats"), ("preconditioner", "preconditioners")):
            values = re.search(rf"\| `solver\.{key}` \| ([^|]*) \|", reference).group(1).split(", ")
            count = len(set(values) - {"`none`", "`auto`"})
            self.assertIn(f"{NUMBERS[count]} {noun}", read("CHANGELOG.md"))

    def test_lines_of_sources(self):
        most = int(re.search(r"at most (\d+)\.", read("CONTRIBUTING.md").partition("**Files.**")[2]).group(1))
        for folder in ("comm", "config", "device", "errors", "miniapps", "mpi", "output", "sums"):
            for path in (ROOT / folder).rglob("*.[ch]pp"):
                if "tests" not in path.parts:
                    self.assertLessEqual(len(path.read_text(encoding="utf-8").splitlines()), most, path)

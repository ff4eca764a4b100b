# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor benchmark: a deck in a tiny size, its archive, and what is resumed or rejected."""

import contextlib
import csv
import io
import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

import yaml
from command import BUILD, ROOT, SCRIPTS
from sample_study import write_study

from kontor.benchmark.command import HEAD, STUDY, parse_arguments, write_table
from kontor.report.study import read_study

NAMES = [Path(deck).stem for deck in yaml.safe_load((ROOT / STUDY).read_text(encoding="utf-8"))["deck"]]


class Benchmark(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-test-")))

    def benchmark(self, *words):
        environment = {**os.environ, "KONTOR_BUILD_DIR": str(BUILD), "KONTOR_BUILT": "1", "SLURM_TEST": "told", "SECRET": "kept"}
        return subprocess.run([SCRIPTS / "kontor", "benchmark", *words], cwd=self.folder, env=environment,
                              capture_output=True, text=True, check=False)

    def test_archive(self):
        words = ("heat-cache", "--reduced", "-n", "2", "--set", "set.measure.calibrate=false", "-o", "small")
        done = self.benchmark(*words, "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("small.tar.gz", done.stdout)
        with tarfile.open(self.folder / "small.tar.gz") as archive:
            names = set(archive.getnames())
            machine = archive.extractfile("small/machine.txt").read().decode()
        files = ("study.json", "study.csv", "benchmark.csv", "report.md", "runs/p001-r1.json", "runs/p001-r1.log")
        self.assertLessEqual({f"small/{name}" for name in files}, names)
        self.assertFalse([name for name in names if name.endswith(".h5")])
        self.assertIn("SLURM_TEST=told", machine)
        self.assertNotIn("SECRET", machine)
        before = (self.folder / "small/runs/p001-r1.json").stat().st_mtime_ns
        self.assertEqual(self.benchmark(*words, "--rounds", "2").returncode, 0)
        self.assertEqual((self.folder / "small/runs/p001-r1.json").stat().st_mtime_ns, before, "it is resumed")
        with (self.folder / "small/benchmark.csv").open(encoding="utf-8") as table:
            [row] = csv.DictReader(table)
        self.assertEqual((row["deck"], row["figure"], row["runs"]), ("heat-cache", "cell_updates", "2 of 2"))

    def test_rejected(self):
        for words, named in (["nonsense"], "heat-cache"), (["-n", "1"], "-n"), (["--rounds", "0"], "--rounds"):
            with contextlib.redirect_stderr(io.StringIO()) as told, self.assertRaises(SystemExit):
                parse_arguments(words, NAMES)
            self.assertIn(named, told.getvalue())

    def test_table(self):
        """Median and range of the first figure; failed runs are counted."""
        def change(point, repeat, _):
            return (point["id"], repeat) != ("p001", 2)

        points = read_study(str(write_study(self.folder / "made", ranks=(1, 2), backends=("raw",), change=change))).points
        shown = write_table(points[:2], self.folder / "table.csv")
        with (self.folder / "table.csv").open(encoding="utf-8") as table:
            head, first, second = csv.reader(table)
        self.assertEqual(head, HEAD)
        values = sorted(record.figures[0]["value"] for record in points[0].records)
        self.assertEqual([float(value) for value in first[3:6]], [values[2], values[0], values[-1]])
        self.assertEqual((first[7], second[7]), ("5 of 5", "4 of 5"))
        self.assertEqual(len(shown.rows), 2)

    def test_page(self):
        """docs/benchmark.md has all decks, in the order of the study."""
        page = (ROOT / "docs/benchmark.md").read_text(encoding="utf-8")
        rows = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
        self.assertEqual([name for name in rows if name in NAMES][:len(NAMES)], NAMES)


if __name__ == "__main__":
    unittest.main()

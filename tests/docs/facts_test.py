# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statements of pages that programs or sources decide."""

import functools
import json
import os
import re
import statistics
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml
from prose import fenced_blocks

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KONTOR_BUILD_DIR", ROOT / "build")).resolve()
RECIPE = "packaging/spack/spack_repo/kontor/packages/kontor/package.py"
NUMBERS = ("no", "one", "two", "three", "four", "five")
FOLDERS = ("comm", "config", "device", "errors", "miniapps", "mpi", "output", "sums")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def shape(line):
    """The line without its numbers, paddings and what differs between machines."""
    line = " ".join(re.sub(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?|nan", "0", line).split())
    return re.sub(r", huge pages|, path host|Serial$|OpenMP$", "", line).strip()


@functools.cache
def run_of(deck, *keys):
    """What a run on two ranks prints, its record, and the bytes of its file."""
    app = deck.partition("/")[0]
    command = ["mpirun", "-n", "2", BUILD / "bin" / app, ROOT / f"inputs/{deck}.yaml", "-o", "x.h5"]
    command += [word for key in keys for word in ("--set", key)] + ["--results", "x.json"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout, json.loads(Path(folder, "x.json").read_text()), Path(folder, "x.h5").read_bytes()


def run_of_plate():
    return run_of("heat/plate", "problem.cells=[64,64]")


class Runs(unittest.TestCase):
    def test_sample_output(self):
        said = run_of_plate()[0].replace("x.h5, x.xmf, x.json", "plate.h5, plate.xmf")
        printed = set(map(shape, said.splitlines()))
        [sample] = [block for block in fenced_blocks(ROOT / "docs/quickstart.md") if block.language == "text"]
        self.assertEqual(set(map(shape, sample.text.splitlines())) - printed, set())

    def test_comparison_of_the_readme(self):
        """Its table and its chart are of tests/docs/compare.json."""
        with tempfile.TemporaryDirectory() as folder:
            chart = Path(folder, "compare.svg")
            words = [ROOT / "scripts/kontor", "compare", ROOT / "tests/docs/compare.json", "--plot", chart]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if "E-REPORT-PACKAGE" in done.stderr:
                self.skipTest(done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
            drawn = chart.read_text(encoding="utf-8")
        _, *table, advice = [line.strip() for line in done.stdout.splitlines()]
        readme = read("README.md")
        self.assertIn("\n".join(table), "\n".join(line.strip() for line in readme.splitlines()))
        self.assertIn(re.search("`(comm: .*?)`", advice)[1], readme)
        texts = [re.findall("<text[^>]*>([^<]*(?:, |saves)[^<]*)</text>", svg)
                 for svg in (drawn, read("docs/images/compare.svg"))]
        self.assertTrue(texts[0])
        self.assertEqual(*texts)

    def test_vtkhdf(self):
        """docs/reference/record.md: fields on a mesh have the group, others do not."""
        self.assertIn(b"VTKHDF", run_of_plate()[2])
        self.assertNotIn(b"VTKHDF", run_of("cg/matrix-market")[2])

    def test_attainable(self):
        """docs/reference/figures.md: its formula, from bytes and calibration of a run's record."""
        record = run_of_plate()[1]
        measured = record["calibration"]
        read_rate, copy_rate = (max(measured[f"{name}_bandwidth"], measured.get(f"working_set_{name}_bandwidth", 0))
                                for name in ("read", "copy"))
        figure = record["figures_of_merit"]["cell_updates"]
        moved, written = figure["bytes_read"], figure["bytes_written"]
        attainable_time = (moved - written) / read_rate + 2 * written / copy_rate
        time = statistics.median(record["repeats"])
        self.assertAlmostEqual(figure["attainable"] / (figure["value"] * time / attainable_time), 1, delta=1e-6)
        page = " ".join(read("docs/reference/figures.md").split())
        self.assertIn("attainable time = (read - written) / read_bandwidth + 2 written / copy_bandwidth", page)
        limit = re.search(r"largest_fraction = ([\d.]+);", read("miniapps/run/record/result.hpp")).group(1)
        self.assertIn(f"A fraction above {limit} is an error", page)
        self.assertIn(f"{limit} times `steps_per_pass`", page)


class Sources(unittest.TestCase):
    def test_counts_of_cg(self):
        reference = read("docs/reference/decks.md").partition("\n## cg\n")[2]
        for key, noun in (("method", "methods"), ("format", "matrix formats"), ("preconditioner", "preconditioners")):
            values = re.search(rf"\| `solver\.{key}` \| ([^|]*) \|", reference).group(1).split(", ")
            count = len(set(values) - {"`none`", "`auto`"})
            self.assertIn(f"{NUMBERS[count]} {noun}", read("CHANGELOG.md"))

    def test_versions_of_kokkos(self):
        """Pages and recipe say no more than what has run: all of lab/results/tested.yaml that computed."""
        ran = [each for each in yaml.safe_load(read("lab/results/tested.yaml"))["combinations"]
               if "not run" not in each["ran"]]
        versions = sorted({tuple(map(int, number.groups())) for each in ran
                           if (number := re.match(r"(\d+)\.(\d+)", each["kokkos"]))})
        least, newest = (".".join(map(str, version)) for version in (versions[0], versions[-1]))
        last = ".".join(map(str, max(version for version in versions if version[0] < 5)))
        for page in ("README.md", "CHANGELOG.md", "docs/library/guide.md"):
            with self.subTest(page=page):
                self.assertRegex(read(page), rf"Kokkos {least} to {last} \(\[?{newest}: \[?some tests")
        self.assertIn(f'depends_on("kokkos@{least}:{newest}")', read(RECIPE))

    def test_variants_of_spack(self):
        """docs/clusters.md has all variants of the recipe, and no other."""
        variants = set(re.findall(r'(?m)^    variant\("(\w+)"', read(RECIPE))) | {"cuda", "rocm"}  # by their classes
        [row] = re.findall(r"Its variants\s+are ([^.]*)", read("docs/clusters.md"))
        told = set(re.findall(r"`(\w+)`", row)) - {"cuda_arch"}
        self.assertEqual(told, variants)
        self.assertIn('conflicts("+rocm", when="+miniapps"', read(RECIPE))
        self.assertRegex(read("docs/clusters.md"), r"`rocm` needs\s+`~miniapps`")

    def test_exit_codes(self):
        """docs/clusters.md: the codes of `kontor help`, and 1 for tests that fail."""
        page = read("docs/clusters.md").partition("## Exit codes")[2].partition("##")[0]
        rows = re.findall(r"(?m)^\| (\d|128 \+ N) \| ", page)
        told = re.search(r"Exit codes: (.*?)\.\n", read("python/kontor/cli.md"), re.DOTALL)[1]
        self.assertEqual(rows, re.findall(r"(?:^|, |\s)(\d|128 \+ N) (?=[a-z])", told))
        self.assertRegex(page, r"\| 1 \| .*`test`: findings")
        self.assertIn("return 1 if code == CTEST_FAILED", read("python/kontor/build/command.py"))

    def test_lines_of_sources(self):
        told = read("CONTRIBUTING.md").partition("**Files.**")[2]
        usual, most = map(int, re.search(r"at most (\d+) lines, all at most (\d+)\.", told).groups())
        lengths = [len(path.read_text(encoding="utf-8").splitlines()) for folder in FOLDERS
                   for path in (ROOT / folder).rglob("*.[ch]pp") if "tests" not in path.parts]
        self.assertLessEqual(max(lengths), most)
        self.assertLessEqual(statistics.quantiles(lengths, n=10)[-1], usual, "of nine in ten")

    def test_lines_of_examples(self):
        """The page of examples has the lines of each, that are neither blank nor comments."""
        page = read("docs/library/examples.md")
        rows = re.findall(r"(?m)^\| \[(\w+)\]\(../../examples/\1/kontor.cpp\) .* \| (\d+) \| (\d+) \|$", page)
        told = dict(re.findall(r"`(\w+\.hpp)` \((\d+)\)", page)) | {f"{name}/mpi.cpp": lines for name, _, lines in rows}
        told |= {f"{name}/kontor.cpp": lines for name, lines, _ in rows}
        folder = ROOT / "examples"
        lines = {str(path.relative_to(folder)): len(re.findall(r"(?m)^\s*(?!\s|//)\S", path.read_text()))
                 for path in (*folder.glob("*.hpp"), *folder.glob("*/*.cpp"))}
        self.assertEqual({name: int(count) for name, count in told.items()}, lines)

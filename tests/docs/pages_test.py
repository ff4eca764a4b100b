# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the Markdown files: links, commands, decks and quoted code.

Commands are tried in a folder that looks like the project's root, with small results of the names that pages use:
`run` and the programs by --dry-run and --print-deck, `report` really, the other commands of `kontor` by --help.
"""

import functools
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from prose import anchors, fenced_blocks, links

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KONTOR_BUILD_DIR", ROOT / "build")).resolve()
HEAT = BUILD / "bin/heat"
PROGRAMS = {decks.name: [BUILD / "bin" / decks.name] for decks in (ROOT / "inputs").iterdir() if decks.is_dir()}
PROGRAMS["pingpong"] = ["mpirun", "-n", "2", BUILD / "bin/pingpong"]  # which takes 2 ranks or more
PAGES = sorted(
    page for page in ROOT.rglob("*.md")
    if not any(part.startswith((".", "build")) for part in page.relative_to(ROOT).parts)
)
RUN = {ROOT / "docs/library" / page for page in ("guide.md", "from-mpi.md")}  # see CMakeLists.txt
ENVIRONMENT = {**os.environ, "KONTOR_BUILD_DIR": str(BUILD), "KONTOR_BUILT": "1", "OMP_NUM_THREADS": "1"}
READS_HDF5 = all(map(importlib.util.find_spec, ("h5py", "matplotlib", "jinja2")))


def every(language):
    return [block for page in PAGES for block in fenced_blocks(page) if block.language == language]


class PagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="kontor-docs-")))
        # Open MPI 4 gives all programs without a launcher one session folder, which the first that ends removes.
        ENVIRONMENT["OMPI_MCA_orte_tmpdir_base"] = str(cls.folder)
        for name in ("inputs", "lab", "scripts", "tests", "python"):
            (cls.folder / name).symlink_to(ROOT / name)
        (cls.folder / "build").symlink_to(BUILD)
        small = "--quiet --set problem.cells=[16,16] --set measure.calibrate=false -o plate.h5".split()
        done = cls.run_once("", HEAT, "inputs/heat/plate.yaml", *small)
        assert done.returncode == 0, done.stderr

    @classmethod
    @functools.cache
    def run_once(cls, _, *words):
        return subprocess.run(words, cwd=cls.folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)

    def succeeds(self, words, where, text=""):
        """What the command says. It runs once, however often pages have it. `text`: of a file that it reads."""
        done = self.run_once(text, *map(str, words))
        self.assertEqual(done.returncode, 0, f"{where}: {shlex.join(map(str, words))}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_links_lead_somewhere(self):
        for page in PAGES:
            for link in links(page):
                if re.match(r"https?://", link):
                    continue
                with self.subTest(page=str(page), link=link):
                    path, _, fragment = link.partition("#")
                    target = (page.parent / path).resolve() if path else page
                    self.assertTrue(target.exists(), "there is no such file")
                    if fragment:
                        self.assertIn(fragment, anchors(target))

    def test_commands_are_accepted(self):
        for block in every("sh"):
            for line in block.text.splitlines():
                with self.subTest(where=block.where, command=line):
                    self.try_command(shlex.split(line, comments=True), block.where)

    def try_command(self, words, where):
        while words and re.match("[A-Z_]+=", words[0]):  # a variable for the command
            words = words[1:]
        if words[:2] == ["mpirun", "-n"]:
            words = words[3:]
        if ">" in words:
            words = words[: words.index(">")]
        if not words or words[0] in ("cmake", "ctest", "sed"):
            return
        if words[0].startswith(("build/bin/", "build-cuda/bin/")):
            stops = {"--schema", "--help", "--list-backends", "--print-deck", "--version"} & set(words)
            self.try_program([*words, *([] if stops else ["--print-deck"])], where)
        elif words[:2] == ["scripts/kontor", "run"]:
            self.try_run(words, where)
        elif words[:2] == ["scripts/kontor", "report"]:
            self.try_report(words, where)
        elif words[:2] == ["scripts/kontor", "study"] and "inputs" in words[2]:
            self.succeeds([*words, "--dry-run"], where)
        elif words[0] == "scripts/kontor":
            self.succeeds([*words[:2], "--help"], where)
        else:
            self.assertRegex(words[0], r"scripts/\w+_reference.py|tests/fault_injection/run$")
            self.succeeds([sys.executable, words[0], "--help"], where)

    def try_program(self, words, where):
        self.succeeds([*PROGRAMS[Path(words[0]).name], *words[1:]], where)

    def try_run(self, words, where):
        if words[2].endswith(".h5"):
            if not READS_HDF5:
                return
            self.make_result(words[2])
        started = shlex.split(self.succeeds([*words, "--dry-run"], where))
        program = next(n for n, word in enumerate(started) if "/bin/" in word and Path(word).name in PROGRAMS)
        self.try_program([*started[program:], "--print-deck"], where)

    def try_report(self, words, where):
        if not READS_HDF5:
            return
        for word in words[2:]:
            if word.endswith(".h5"):
                self.make_result(word)
            elif not re.search(r"\.|^-", word) and not (self.folder / word).exists():
                sys.path.insert(0, str(ROOT / "python/tests"))
                from sample_study import write_study

                write_study(self.folder / word, ranks=(1, 2), repeats=2)
        self.succeeds(words, where)

    def make_result(self, name):
        if not (self.folder / name).exists():
            (self.folder / name).write_bytes((self.folder / "plate.h5").read_bytes())

    def test_decks_are_valid(self):
        self.assertTrue(every("yaml"))
        for block in every("yaml"):
            with self.subTest(where=block.where):
                if block.text.startswith("study:"):
                    (self.folder / "study.yaml").write_text(block.text)
                    self.succeeds(["scripts/kontor", "study", "study.yaml", "--dry-run"], block.where, block.text)
                    continue
                text = block.text if re.search(r"^app:", block.text, re.MULTILINE) else f"app: heat\n{block.text}"
                (self.folder / "deck.yaml").write_text(text)
                app = re.search(r"^app: (\w+)", text, re.MULTILINE).group(1)
                self.succeeds([*PROGRAMS[app], "deck.yaml", "--print-deck"], block.where, text)

    def test_components_are_installed(self):
        rules = "".join(file.read_text() for file in BUILD.rglob("cmake_install.cmake"))
        known = set(re.findall(r'CMAKE_INSTALL_COMPONENT STREQUAL "(\w+)"', rules))
        if not known:
            self.skipTest("a build without install rules")
        for page in PAGES:
            with self.subTest(page=page.name):
                self.assertLessEqual(set(re.findall(r"--component (\w+)", page.read_text())), known)

    def test_python_runs(self):
        if not READS_HDF5:
            self.skipTest("no h5py here")
        for block in every("python"):
            with self.subTest(where=block.where):
                self.succeeds([sys.executable, "-c", block.text], block.where)

    def test_cpp_is_quoted_or_run(self):
        for block in every("cpp"):
            page = Path(block.where.rsplit(":", 1)[0])
            with self.subTest(where=block.where):
                kind, _, source = block.mark.partition(": ")
                if kind == "from":
                    self.assertIn(block.text, (ROOT / source).read_text(encoding="utf-8"))
                else:
                    self.assertTrue(kind == "run" and page in RUN, "how is this block checked?")

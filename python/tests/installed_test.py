# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cmake --install: the command and its programs below a prefix, without the source tree and with a bare environment.
And the same commands by pip."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from command import BUILD, ROOT

SMALL = ("--set", "problem.cells=[16,16]", "--set", "measure.calibrate=false", "--quiet")
PACKAGE = ("python", "pyproject.toml", "README.md", "VERSION", "LICENSE")


class Commands:
    """Tests of what a prefix and the package of pip both have."""

    @classmethod
    def setUpClass(cls):
        cls.prefix = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="kontor-test-"))).resolve() / "a prefix"
        install = ["cmake", "--install", BUILD, "--component", "command", "--prefix", cls.prefix]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL, timeout=60)
        cls.folder = cls.prefix.with_name("empty")
        cls.folder.mkdir()
        cls.path, cls.environment = f"{cls.prefix}/bin:/usr/bin:/bin", {"HOME": str(cls.folder)}

    def kontor(self, *words, code=0, folder=None):
        done = subprocess.run(["kontor", *words], cwd=folder or self.folder, env={"PATH": self.path, **self.environment},
                              capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn(str(ROOT), done.stdout + done.stderr)
        return done

    def test_version(self):
        revision = (BUILD / "revision.txt").read_text()
        version = f"kontor {(ROOT / 'VERSION').read_text().strip()} ({revision.strip()})\n"
        self.assertEqual(self.kontor("--version").stdout, version)
        self.assertIn(revision.strip(), self.kontor("app", "heat", "--version").stdout)

    def test_a_run_its_report_and_a_study(self):
        """Of a deck by its path, and by its name below share/."""
        for deck, folder in ("share/kontor/inputs/heat/plate.yaml", self.prefix), ("heat/plate.yaml", self.folder):
            done = self.kontor("run", deck, "-n", "1", *SMALL, "-o", f"{self.folder}/plate.h5", folder=folder)
            self.assertIn("VERIFICATION PASSED", done.stdout)
        if not importlib.util.find_spec("h5py"):
            self.skipTest("no h5py")
        self.assertIn("heat", self.kontor("report", "plate.h5").stdout)
        self.assertIn("VERIFICATION PASSED", self.kontor("run", "plate.h5", "--quiet").stdout)
        self.assertIn(" points", self.kontor("study", "studies/heat-strong.yaml", "--dry-run").stdout)

    def test_help(self):
        """Of the commands that are there, and of pages that are there."""
        overview = self.kontor("help").stdout
        commands = dict.fromkeys(re.findall(r"(?m)^ {2}kontor (\w+)", overview))
        told = [overview, *(self.kontor(command, "--help").stdout for command in commands if command != "help")]
        self.assertNotRegex("".join(told), "source tree|build/|kontor build")
        sources = [file.read_text() for file in (ROOT / "python/kontor").rglob("*.py")]
        for page in {page for text in told + sources for page in re.findall(r"docs/[\w/]+\.md", text)}:
            self.assertTrue((self.prefix / "share/kontor" / page).exists(), page)
        for command in "build", "test", "lint", "predict":
            self.assertNotIn(command, commands)
            self.assertIn(f"{command} needs a source tree", self.kontor(command, code=2).stderr)

    def test_the_apps(self):
        apps = self.kontor("app").stdout.split()
        self.assertEqual({file.name for file in (self.prefix / "libexec/kontor").iterdir()}, set(apps))
        self.assertIn("heat [OPTIONS]", self.kontor("app", "heat", "--help").stdout)
        self.assertIn("'heet' is unknown", self.kontor("app", "heet", code=2).stderr)


@unittest.skipUnless((BUILD / "bin/heat").exists(), "heat is not built")
class Prefix(Commands, unittest.TestCase):
    def test_programs(self):
        """Of everyday names none is on PATH; and none names a folder of the build, whose files another may have written."""
        self.assertEqual({file.name for file in (self.prefix / "bin").iterdir()}, {"kontor", "kontor-deck", "kontor-record"})
        for file in [*(self.prefix / "bin").iterdir(), *(self.prefix / "libexec/kontor").iterdir()]:
            self.assertNotIn(os.fsencode(BUILD.resolve()) + b"/", file.read_bytes(), file.name)

    def test_licence_manual_completion(self):
        share = self.prefix / "share"
        self.assertEqual((share / "licenses/kontor/LICENSE").read_text(), (ROOT / "LICENSE").read_text())
        page = (share / "man/man1/kontor.1").read_text()
        script = 'source "$0"; COMP_WORDS=(kontor "$@"); COMP_CWORD=$#; _kontor; echo "${COMPREPLY[@]}"'
        for words, found in (["co"], "compare"), (["run", "--dry"], "--dry-run"), (["app", "he"], "heat"), (["lin"], ""):
            done = subprocess.run(["bash", "-c", script, share / "bash-completion/completions/kontor", *words], capture_output=True, text=True,
                                  check=True, timeout=20)
            self.assertEqual(done.stdout.strip(), found)
            self.assertIn(found.replace("-", "\\-"), page)

    def test_the_mpirun_that_was_linked(self):
        [linked] = re.findall(r"(?m)^MPIEXEC_EXECUTABLE:.*\n", (BUILD / "CMakeCache.txt").read_text())
        self.assertIn(linked, (self.prefix / "share/kontor/installed.txt").read_text())


@unittest.skipUnless((BUILD / "bin/heat").exists() and all(map(importlib.util.find_spec, ("pip", "setuptools", "wheel"))), "no pip, setuptools or wheel")
class Wheel(Commands, unittest.TestCase):
    """The package of Python, with the programs of the prefix on PATH."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sources, target = cls.prefix.with_name("sources"), cls.prefix.with_name("wheel")
        sources.mkdir()
        for name in PACKAGE:  # setuptools writes beside them
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, sources / name)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", target, sources],
                       check=True, capture_output=True, timeout=120)
        (cls.prefix / "bin/kontor").unlink()
        shutil.rmtree(cls.prefix / "share/kontor/python")
        cls.path = f"{target}/bin:{cls.path}"
        cls.environment = {**cls.environment, "PYTHONPATH": str(target)}

    def test_licence(self):
        self.assertTrue(list(self.prefix.with_name("wheel").glob("kontor-*.dist-info/**/LICENSE")))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cmake --install: the command and its programs below a prefix, without the source tree and with a bare environment."""

import importlib.util
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BUILD, ROOT

SMALL = ("--set", "problem.cells=[16,16]", "--set", "measure.calibrate=false", "--quiet")


@unittest.skipUnless((BUILD / "bin/heat").exists(), "heat is not built")
class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="kontor-test-"))).resolve() / "a prefix"
        install = ["cmake", "--install", BUILD, "--component", "command", "--prefix", cls.prefix]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL, timeout=60)
        cls.folder = cls.prefix.with_name("empty")
        cls.folder.mkdir()

    def kontor(self, *words, code=0, folder=None):
        done = subprocess.run(["kontor", *words], cwd=folder or self.folder, env={"PATH": f"{self.prefix}/bin:/usr/bin:/bin", "HOME": str(self.folder)},
                              capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn(str(ROOT), done.stdout + done.stderr)
        return done

    def test_version(self):
        self.assertEqual(self.kontor("--version").stdout, f"kontor {(ROOT / 'VERSION').read_text()}")

    def test_a_run_and_its_report(self):
        """Of a deck by its path, and by its name below share/."""
        for deck, folder in ("share/kontor/inputs/heat/plate.yaml", self.prefix), ("heat/plate.yaml", self.folder):
            done = self.kontor("run", deck, "-n", "1", *SMALL, "-o", f"{self.folder}/plate.h5", folder=folder)
            self.assertIn("VERIFICATION PASSED", done.stdout)
        if not importlib.util.find_spec("h5py"):
            self.skipTest("no h5py")
        self.assertIn("heat", self.kontor("report", "plate.h5").stdout)
        self.assertIn("VERIFICATION PASSED", self.kontor("run", "plate.h5", "--quiet").stdout)

    def test_a_study(self):
        self.assertIn(" points", self.kontor("study", "studies/heat-strong.yaml", "--dry-run").stdout)

    def test_what_needs_a_source_tree(self):
        for command in "build", "test", "lint", "predict":
            self.assertIn(f"{command} needs a source tree", self.kontor(command, code=2).stderr)

    def test_the_mpirun_that_was_linked(self):
        [linked] = re.findall(r"(?m)^MPIEXEC_EXECUTABLE:.*\n", (BUILD / "CMakeCache.txt").read_text())
        self.assertIn(linked, (self.prefix / "share/kontor/installed.txt").read_text())

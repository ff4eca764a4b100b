# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/integrations against what a program prints and what the build wants.

JUBE runs its file, if it is installed (Debian's package jube). ReFrame and Spack are not in Debian: small stand-ins for
the few names that their files use carry them out, which shows that the patterns and options are right. docs/clusters.md says by which
versions the real tools took the files.
"""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/torture"))

from torture.mpirun import ENVIRONMENT as MPI_ENVIRONMENT  # noqa: E402

INTEGRATIONS = ROOT / "packaging"
BUILD = Path(os.environ.get("KONTOR_BUILD_DIR", ROOT / "build"))
SMALL = "--set problem.cells=[16,16]"
ENVIRONMENT = {**os.environ, **MPI_ENVIRONMENT, "KONTOR": str(ROOT), "KONTOR_BUILD_DIR": str(BUILD), "KONTOR_BUILT": "1",
               "KONTOR_ARGUMENTS": SMALL}


def load(path, modules, root=ROOT):
    """The module of that file, imported while these ones exist."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, modules), mock.patch.dict(os.environ, {"KONTOR": str(root)}):
        spec.loader.exec_module(module)
    return module


def oddly_named(folder):
    """The checkout by a name that a shell would take apart."""
    link = Path(folder) / """it's "$my" checkout"""
    link.symlink_to(ROOT)
    return link


def make_module(name, **names):
    module = types.ModuleType(name)
    module.__dict__.update(names)
    return module


def decorator(*_):
    return lambda function: function


class Reframe(unittest.TestCase):
    """The steps of a test in their order: command, run, sanity, performance."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kontor-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        text = lambda path: (self.folder / path).read_text()
        sanity = make_module(
            "reframe.utility.sanity", all=all, assert_true=bool, assert_false=lambda value: not value,
            assert_found=lambda pattern, path, message: self.assertRegex(text(path), pattern, message), evaluate=lambda value: value,
            extractsingle=lambda pattern, path, group, kind: kind(re.search(pattern, text(path))[group]))
        builtins = make_module(
            "reframe.core.builtins", parameter=lambda values: values[0], variable=lambda kind, value: value,
            performance_function=decorator, run_before=decorator, sanity_function=lambda function: function)
        reframe = make_module("reframe", simple_test=lambda test: test, RunOnlyRegressionTest=object,
                              utility=make_module("reframe.utility", sanity=sanity))
        modules = {"reframe": reframe, "reframe.utility": reframe.utility, "reframe.utility.sanity": sanity,
                   "reframe.core": make_module("reframe.core"), "reframe.core.builtins": builtins}
        self.test = load(INTEGRATIONS / "reframe/kontor.py", modules, oddly_named(folder.name)).KontorHeat()
        self.test.stagedir, self.test.stdout, self.test.stderr, self.test.arguments = str(self.folder), "out", "err", SMALL
        self.test.set_command()
        program, *self.words = shlex.split(" ".join([self.test.executable, *self.test.executable_opts]))
        self.program = BUILD / "bin" / Path(program).name

    def run_test(self, *more):
        done = subprocess.run([self.program, *self.words, *more], cwd=self.folder, env=ENVIRONMENT,
                              capture_output=True, text=True, check=False)
        (self.folder / "out").write_text(done.stdout)
        return json.loads((self.folder / "record.json").read_text())

    def test_figures_are_those_of_the_record(self):
        record = self.run_test()
        self.assertTrue(self.test.is_verified())
        for name in "cell_updates", "effective_bandwidth":
            self.assertAlmostEqual(getattr(self.test, name)() / record["figures_of_merit"][name]["value"], 1, places=4)

    def test_a_wrong_answer_is_seen(self):
        self.run_test("--set", "verification.tolerance=0")
        with self.assertRaises(AssertionError):
            self.test.is_verified()

    def test_fewer_ranks_are_refused(self):
        """As ReFrame's launcher "local" starts one."""
        done = subprocess.run([self.program, *self.words], cwd=self.folder, env={**ENVIRONMENT, **self.test.env_vars},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("KONTOR_RANKS says 2", done.stderr)

    def test_decks_exist(self):
        for word in self.words:
            if word.endswith(".yaml"):
                self.assertTrue(Path(word).exists(), word)


class Jube(unittest.TestCase):
    @unittest.skipUnless(shutil.which("jube"), "no jube: apt-get install jube")
    def test_the_table(self):
        with tempfile.TemporaryDirectory(prefix="kontor-") as folder:
            done = subprocess.run(["jube", "--strict", "run", INTEGRATIONS / "jube/kontor.yaml", "-o", f"{folder}/runs", "--result",
                                   "--hide-animation"], cwd=folder,
                                  env={**ENVIRONMENT, "KONTOR": str(oddly_named(folder))}, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            tables = list(Path(folder).rglob("table.dat"))
            self.assertEqual(len(tables), 1, done.stdout)
            self.assertEqual([str(path) for path in Path(folder).rglob("error")], [])
            rows = [line.split(",") for line in tables[0].read_text().splitlines() if line]
        self.assertEqual([cell.split("[")[0] for cell in rows[0]],
                         ["backend", "ranks", "cell_updates", "effective_bandwidth", "verification"])
        self.assertEqual([row[:2] for row in rows[1:]], [["raw", "1"], ["raw", "2"], ["view", "1"], ["view", "2"]])
        for row in rows[1:]:
            self.assertAlmostEqual(float(row[3]) / float(row[2]), 16, places=3)
            self.assertEqual(row[4], "PASSED")


class Spack(unittest.TestCase):
    """Every library of packages.txt has its dependency, and every option is one of CMake's."""

    NAMES = {"g++": "cxx", "cmake": "cmake", "git": "git", "libopenmpi-dev": "mpi", "libtrilinos-kokkos-dev": "kokkos",
             "libtrilinos-kokkos-kernels-dev": "kokkos-kernels", "libopenblas-dev": "blas", "libmetis-dev": "metis",
             "libhdf5-openmpi-dev": "hdf5", "libyaml-cpp-dev": "yaml-cpp", "libmuparser-dev": "muparser",
             "libcli11-dev": "cli11", "nlohmann-json3-dev": "nlohmann-json", "libfmt-dev": "fmt", "libgtest-dev": "googletest"}

    def setUp(self):
        self.dependencies = set()
        nothing = lambda *_, **__: None
        base = type("CMakePackage", (), {"define": lambda self, name, value: name, "run_tests": True,
                                         "define_from_variant": lambda self, name, variant: name})
        package = make_module(
            "spack.package", CMakePackage=base, license=nothing, version=nothing, variant=nothing, run_after=decorator,
            when=lambda condition: tempfile.SpooledTemporaryFile(), install_tree=nothing, join_path=nothing,
            depends_on=lambda spec, **_: self.dependencies.add(re.split("[@+~ ]", spec)[0]))
        modules = {"spack": make_module("spack"), "spack.package": package}
        self.recipe = load(INTEGRATIONS / "spack/packages/kontor/package.py", modules).Kontor

    def test_dependencies(self):
        listed = re.findall(r"(?m)^([a-z][a-z0-9+.-]*) ", (ROOT / "scripts/packages.txt").read_text())
        libraries = [name for name in listed if re.fullmatch(r"g\+\+|cmake|git|lib.*-dev|.*-json3-dev", name)]
        self.assertEqual({self.NAMES[name] for name in libraries} | {"c"}, self.dependencies)

    def test_options(self):
        files = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
        known = set(re.findall(r"option\((\w+)", "".join(path.read_text() for path in files)))
        self.assertLessEqual(set(self.recipe().cmake_args()), known)

    def test_the_checkout(self):
        self.assertEqual(self.recipe.git, f"file://{ROOT}")


if __name__ == "__main__":
    unittest.main()

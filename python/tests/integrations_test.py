# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""packaging against what the programs print and what the build needs.

JUBE runs its file where it is installed (Debian's package jube). A small stand-in for the names of Spack carries out
the recipe.
"""

import hashlib
import importlib.util
import io
import itertools
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

try:
    import yaml  # noqa: F401
except ModuleNotFoundError as error:
    print(f"skipped: no {error.name}")
    sys.exit(77)

from command import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tests/fault_injection"))

from fault_injection.mpirun import ENVIRONMENT as MPI_ENVIRONMENT, MPIEXEC  # noqa: E402

PACKAGING = ROOT / "packaging"
WITHOUT = "--set measure.calibrate=false"
SMALL = f"--set problem.cells=[16,16] {WITHOUT}"
ENVIRONMENT = {**os.environ, **MPI_ENVIRONMENT, "KONTOR": str(ROOT), "KONTOR_BUILD_DIR": str(BUILD), "KONTOR_BUILT": "1"}


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


class StandIn(types.ModuleType):
    """A module that has every class, and every directive."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {}) if name[0].isupper() else sys.modules.get(f"{self.__name__}.{name}", nothing)


def make_modules(contents):
    """Stand-ins by their names, with these contents, and the packages that they are in."""
    modules = {}
    for name, names in contents.items():
        for package in itertools.accumulate(name.split("."), "{}.{}".format):
            module = modules.setdefault(package, StandIn(package))
        vars(module).update(names)
    return modules


def nothing(*_, **__):
    """A directive that is of no interest."""


def run(words, folder=None, **environment):
    return subprocess.run(words, cwd=folder, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, check=False, timeout=280)


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-")))

    def assert_accepted(self, words):
        """By the program, without a run."""
        ranks = [MPIEXEC, "-n", "2"] if Path(words[0]).name == "pingpong" else []
        done = run([*ranks, BUILD / "bin" / Path(words[0]).name, *words[1:], "--print-deck"])
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")


class Jube(FolderTest):
    @unittest.skipUnless(shutil.which("jube"), "no jube: apt-get install jube")
    def test_the_table(self):
        done = run(["jube", "--strict", "run", PACKAGING / "jube/kontor.yaml", "-o", self.folder / "runs", "--result", "--hide-animation"],
                   self.folder, KONTOR=str(oddly_named(self.folder)), KONTOR_APPS="heat,matmul", KONTOR_ARGUMENTS=WITHOUT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        tables = list(self.folder.rglob("table.dat"))
        self.assertEqual(len(tables), 1, done.stdout)
        self.assertEqual([str(path) for path in self.folder.rglob("error")], [])
        rows = [line.split(",") for line in tables[0].read_text().splitlines() if line]
        head = [cell.split("[")[0] for cell in rows[0]]
        found = [dict(zip(head, row)) for row in rows[1:]]
        pairs = [("heat", "raw"), ("heat", "view"), ("matmul", "raw"), ("matmul", "view")]
        self.assertEqual([(row["app"], row["backend"], row["ranks"]) for row in found], [(*pair, ranks) for pair in pairs for ranks in "12"])
        self.assertEqual({row["verification"] for row in found}, {"PASSED"})
        for row in found:
            if row["app"] == "heat":
                self.assertAlmostEqual(float(row["effective_bandwidth"]) / float(row["cell_updates"]), 16, places=3)
            else:
                self.assertGreater(float(row["flops"]), 0)

    def test_commands(self):
        """The table of decks and sizes has the apps that JUBE is not run with here, too."""
        text = (PACKAGING / "jube/kontor.yaml").read_text()
        decks = dict(re.findall(r"(\w+)=\"(\w+/[\w-]+)\"", text))
        sizes = dict(re.findall(r"(\w+)=\"(--set [^\"]+)\"", text))
        self.assertEqual(set(decks), set(sizes))
        for app, deck in decks.items():
            self.assert_accepted([app, ROOT / f"inputs/{deck}.yaml", *sizes[app].split()])


class Spack(unittest.TestCase):
    """Every package of packages.txt has its dependency, and every option is one of CMake's."""

    NAMES = {"g++": "cxx", "cmake": "cmake", "libopenmpi-dev": "mpi", "libtrilinos-kokkos-dev": "kokkos",
             "libtrilinos-kokkos-kernels-dev": "kokkos-kernels", "libopenblas-dev": "blas", "libmetis-dev": "metis",
             "libhdf5-openmpi-dev": "hdf5", "libyaml-cpp-dev": "yaml-cpp", "libmuparser-dev": "muparser",
             "libcli11-dev": "cli11", "nlohmann-json3-dev": "nlohmann-json", "libfmt-dev": "fmt", "libgtest-dev": "googletest",
             "python3": "python", "python3-h5py": "py-h5py", "python3-yaml": "py-pyyaml", "python3-matplotlib": "py-matplotlib",
             "python3-jinja2": "py-jinja2"}
    TOOLS = {"ninja-build", "git", "openmpi-bin", "hdf5-tools", "doxygen", "slurmctld", "slurmd", "slurm-client", "jube", "iproute2",
             "mypy", "flake8", "mkdocs-material", "codespell", "shellcheck", "python3-vtk9"}  # a build with Spack does without

    def load(self, recipe):
        dependencies = set()
        name_of = lambda self, name, *_: name
        base = type("CMakePackage", (), {"define": name_of, "define_from_variant": name_of, "run_tests": True,
                                         "spec": types.SimpleNamespace(satisfies=lambda text: False)})
        systems = "spack_repo.builtin.build_systems"
        modules = make_modules({
            "spack.package": {**dict.fromkeys(("license", "version", "variant", "conflicts"), nothing),
                              "when": lambda condition: tempfile.SpooledTemporaryFile(),
                              "depends_on": lambda spec, **_: dependencies.add(re.split("[@+~ ]", spec)[0])},
            f"{systems}.cmake": {"CMakePackage": base},
            f"{systems}.cuda": {"CudaPackage": type("CudaPackage", (), {"cuda_arch_values": ("90",)})},
            f"{systems}.rocm": {"ROCmPackage": type("ROCmPackage", (), {"amdgpu_targets": ("gfx90a",)})},
        })
        return load(recipe, modules).Kontor, dependencies

    def setUp(self):
        self.recipe, self.dependencies = self.load(PACKAGING / "spack/spack_repo/kontor/packages/kontor/package.py")

    def test_dependencies(self):
        lists = "".join((ROOT / f"scripts/{name}.txt").read_text() for name in ("packages", "packages-test"))
        listed = set(re.findall(r"(?m)^([a-z][a-z0-9+.-]*) ", lists)) - self.TOOLS
        self.assertEqual({self.NAMES[name] for name in listed} | {"c", "nccl"}, self.dependencies)

    def test_options(self):
        files = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
        known = {"KONTOR_BACKEND_NCCL", *re.findall(r"option\((\w+)", "".join(path.read_text() for path in files))}
        self.assertLessEqual(set(self.recipe().cmake_args()), known)

    def test_the_last_kokkos_was_tested(self):
        recipe = (PACKAGING / "spack/spack_repo/kontor/packages/kontor/package.py").read_text()
        [last] = re.findall(r'depends_on\("kokkos@3\.4:([\d.]+)"', recipe)
        tested = re.findall(r"(?m)^\|.*?\| (\d+\.\d+)[.\d]* (?:Serial|OpenMP|CUDA)", (ROOT / "docs/tested.md").read_text())
        self.assertEqual(last, max(tested, key=lambda version: list(map(int, version.split(".")))))

    def test_the_checkout(self):
        self.assertEqual(self.recipe.git, f"file://{ROOT}")

    def test_the_citation_has_the_version(self):
        self.assertIn(f"\nversion: {(ROOT / 'VERSION').read_text()}", (ROOT / "CITATION.cff").read_text())


class Release(FolderTest):
    """The tarball and the recipe of any revision."""

    def test_tarball_and_recipe(self):
        if run(["git", "-C", ROOT, "cat-file", "-e", "HEAD:VERSION"]).returncode:
            self.skipTest("no checkout")
        version = (ROOT / "VERSION").read_text().strip()
        release = [sys.executable, ROOT / "packaging/release", "HEAD", "-o", self.folder]
        self.assertEqual(run(release).returncode, 2, "HEAD is no tag")
        said = run([*release, "--any"]).stdout
        data = (self.folder / f"kontor-{version}.tar.gz").read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        self.assertEqual(said.split(), [sha256, f"kontor-{version}.tar.gz"])
        with tarfile.open(fileobj=io.BytesIO(data)) as files:
            self.assertEqual(files.extractfile(f"kontor-{version}/VERSION").read().decode().strip(), version)
        recipe = self.folder / "spack_repo/kontor/packages/kontor/package.py"
        self.assertIn(f'version("{version}", sha256="{sha256}")', recipe.read_text())
        self.assertNotIn("git = ", recipe.read_text())
        self.assertEqual(Spack.load(self, recipe)[1], Spack.load(self, PACKAGING / "spack/spack_repo/kontor/packages/kontor/package.py")[1])

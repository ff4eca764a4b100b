# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""packaging against what the programs print and what the build needs. JUBE runs its file where it is installed."""

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

from command import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tests/fault_injection"))

from fault_injection.mpirun import ENVIRONMENT as MPI_ENVIRONMENT, MPIEXEC  # noqa: E402

PACKAGING = ROOT / "packaging"
RECIPE = "spack_repo/kontor/packages/kontor/package.py"
ENVIRONMENT = {**os.environ, **MPI_ENVIRONMENT, "KONTOR_BUILD_DIR": str(BUILD), "KONTOR_BUILT": "1"}


def run(words, folder=None, **environment):
    return subprocess.run(words, cwd=folder, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, check=False, timeout=280)


def dependencies(recipe):
    return set(re.findall(r'depends_on\(f?"([\w-]+)', recipe.read_text()))


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-")))


class Jube(FolderTest):
    @unittest.skipUnless(shutil.which("jube"), "no jube: apt-get install jube")
    def test_the_table(self):
        """Of the checkout by a name that a shell would take apart."""
        link = self.folder / """it's "$my" checkout"""
        link.symlink_to(ROOT)
        done = run(["jube", "--strict", "run", PACKAGING / "jube/kontor.yaml", "-o", self.folder / "runs", "--result", "--hide-animation"],
                   self.folder, KONTOR=str(link), KONTOR_APPS="heat,matmul", KONTOR_ARGUMENTS="--set measure.calibrate=false")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([str(path) for path in self.folder.rglob("error")], [])
        [table] = self.folder.rglob("table.dat")
        rows = [line.split(",") for line in table.read_text().splitlines() if line]
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
        """The table of decks and sizes has the apps that JUBE is not run with here, too: each takes its words."""
        text = (PACKAGING / "jube/kontor.yaml").read_text()
        decks = dict(re.findall(r"(\w+)=\"(\w+/[\w-]+)\"", text))
        sizes = dict(re.findall(r"(\w+)=\"(--set [^\"]+)\"", text))
        self.assertEqual(set(decks), set(sizes))
        for app, deck in decks.items():
            done = run([MPIEXEC, "-n", "2", BUILD / "bin" / app, ROOT / f"inputs/{deck}.yaml", *sizes[app].split(), "--print-deck"])
            self.assertEqual(done.returncode, 0, f"{app}: {done.stderr}")


class Recipes(FolderTest):
    """Spack's, and the files of a release of any revision."""

    NAMES = {"g++": "cxx", "cmake": "cmake", "libopenmpi-dev": "mpi", "libtrilinos-kokkos-dev": "kokkos",
             "libtrilinos-kokkos-kernels-dev": "kokkos-kernels", "libopenblas-dev": "blas", "libfftw3-dev": "fftw", "libmetis-dev": "metis",
             "libhdf5-openmpi-dev": "hdf5", "libyaml-cpp-dev": "yaml-cpp", "libmuparser-dev": "muparser",
             "libcli11-dev": "cli11", "nlohmann-json3-dev": "nlohmann-json", "libfmt-dev": "fmt", "libgtest-dev": "googletest",
             "python3": "python", "python3-h5py": "py-h5py", "python3-yaml": "py-pyyaml", "python3-matplotlib": "py-matplotlib",
             "python3-jinja2": "py-jinja2"}
    TOOLS = {"ninja-build", "git", "openmpi-bin", "hdf5-tools"}  # a build with Spack does without
    recipe = PACKAGING / "spack" / RECIPE

    def test_dependencies(self):
        """The packages of the build."""
        listed = set(re.findall(r"(?m)^([a-z][a-z0-9+.-]*) ", (ROOT / "scripts/packages.txt").read_text())) - self.TOOLS
        self.assertEqual({self.NAMES[name] for name in listed} | {"c", "nccl", "googletest"}, dependencies(self.recipe))

    def test_options_and_places(self):
        text = self.recipe.read_text()
        files = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
        known = {"KONTOR_BACKEND_NCCL", *re.findall(r"option\((\w+)", "".join(path.read_text() for path in files))}
        self.assertLessEqual(set(re.findall(r'"(KONTOR_\w+)"', text)), known)
        self.assertEqual(self.recipe.parents[int(re.search(r"parents\[(\d)\]", text)[1])], ROOT)
        self.assertIn(f"\nversion: {(ROOT / 'VERSION').read_text()}", (ROOT / "CITATION.cff").read_text())

    def test_the_last_kokkos_was_tested(self):
        [last] = re.findall(r'depends_on\("kokkos@3\.4:([\d.]+)"', self.recipe.read_text())
        tested = re.findall(r"(?m)^\|.*?\| (\d+\.\d+)[.\d]* (?:Serial|OpenMP|CUDA)", (ROOT / "docs/tested.md").read_text())
        self.assertEqual(last, max(tested, key=lambda version: list(map(int, version.split(".")))))

    def test_release(self):
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
        recipe = self.folder / RECIPE
        self.assertIn(f'version("{version}", sha256="{sha256}")', recipe.read_text())
        self.assertNotIn("git = ", recipe.read_text())
        self.assertEqual(dependencies(recipe), dependencies(self.recipe))

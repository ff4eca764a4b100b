# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Set-up on machines that lack something. Nothing is installed: the commands on PATH are fakes."""

import os
import shutil
import subprocess
import sys
import unittest

from command import ROOT, SCRIPTS, KontorTest

TOOLS = """basename bash cat chmod comm cut dirname env flock getconf grep head join kill ls mkdir mktemp nproc paste
           readlink rm sed seq sleep sort tail tr true wc""".split()

# Finds everything once the packages are installed.
CMAKE = """
if [[ $1 == --build ]]; then exit; fi
if [[ -e $HOME/installed ]]; then touch "$KONTOR_BUILD_DIR/build.ninja"; exit; fi
printf 'CMake Error at x.cmake:1 (message):\\n  Kontor needs yaml-cpp, and CMake did not find it.\\n\\nCall Stack (most recent call first):\\n'
exit 1
"""


class Setup(KontorTest):
    def setUp(self):
        super().setUp()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.environment["PATH"] = str(self.bin)
        self.fake("cmake", CMAKE)
        self.fake("c++", "")
        self.fake("touch", ': >"$1"')

    def make_debian(self, user=1000, missing="libyaml-cpp-dev", removed="libfmt-dev"):
        self.patch(user)
        # Everything but two packages is there; a removed one is known but not installed. With one that it does not know it fails.
        self.fake("dpkg-query", f'for p; do case $p in -*|*{{*|{missing}) ;; {removed}) echo "$p not-installed";;'
                                ' *) echo "$p installed";; esac; done; exit 1')
        self.fake("apt-get", 'echo "$*" >>"$HOME/apt"; if [[ $* == *install* ]]; then touch "$HOME/installed"; fi')

    def installed(self):
        """The names of packages."""
        prefix = "-qq install --yes --no-install-recommends "
        return [line.removeprefix(prefix) for line in self.lines("apt") if line.startswith(prefix)]

    def calls(self):
        """Those of CMake since the last time."""
        calls = self.lines("cmake")
        (self.folder / "cmake").unlink()
        return calls

    def log_cmake(self, script):
        self.fake("cmake", f'echo "$*" >>"$HOME/cmake"; {script}')

    def test_packages(self):
        """What is missing is installed by root or sudo, for a run, too; else the command to run is printed. dpkg, which
        fails where it does not know a package, is no failure."""
        self.make_debian()
        self.fake("sudo", "exit 1")
        self.assert_fails(self.kontor("build"), "installing them needs root or sudo",
                          "\napt-get install --no-install-recommends libfmt-dev libyaml-cpp-dev\n")
        self.assertEqual(self.lines("apt"), [])
        self.fake("sudo", 'echo "$*" >>"$HOME/as-root"; [[ $1 == -n ]] && shift; "$@"')
        self.succeeds("build")
        update, install = "-qq update", "-qq install --yes --no-install-recommends libfmt-dev libyaml-cpp-dev"
        apt = "env DEBIAN_FRONTEND=noninteractive apt-get"
        self.assertEqual(self.lines("as-root"), ["-n true", f"{apt} {update}", f"{apt} {install}"])
        for name in "apt", "installed", "build/build.ninja":
            (self.folder / name).unlink()
        self.patch(user=0)
        self.kontor("run", "plate.yaml")
        self.succeeds("build")
        self.assertEqual(self.lines("apt"), [update, install])

    def test_a_preset_has_packages_of_its_own(self):
        self.make_debian(user=0, missing="libmpich-dev", removed="none")
        self.log_cmake(CMAKE)
        self.succeeds("build", KONTOR_PRESET="mpich")
        self.assertEqual(self.installed(), ["libmpich-dev"])
        self.assertRegex(self.calls()[0], "^--preset mpich -B ")

    def test_only_tests_get_the_packages_of_tests_and_only_once(self):
        """And nothing is installed where CMake finds everything."""
        self.make_debian(missing="libfmt-dev|jube", removed="none")
        self.fake("ctest", "")
        self.fake("sudo", "exit 1")
        self.write("installed", "")  # what is built from
        for user, names in {1000: [], 0: ["jube"]}.items():
            self.patch(user)
            for command, known in ("build", []), ("test", names), ("test", names):
                self.succeeds(command)
                self.assertEqual(self.installed(), known)
            shutil.rmtree(self.folder / "build")

    def test_what_cannot_be_built_is_told(self):
        """CMake's message, the compiler's, or what is missing; what was built already is used, and a file system may
        have no locks."""
        self.assert_fails(self.kontor("build"), "Kontor needs yaml-cpp", "get what scripts/packages.txt lists")
        cmake = self.bin / "cmake"
        cmake.unlink()
        self.assert_fails(self.kontor("build"), "a C++20 compiler and CMake (3.22 or later) are not both on PATH")
        self.write("build/build.ninja", "")
        self.assertIn("using build as it is", self.succeeds("build").stderr)
        self.fake("cmake", "echo '[1/2] x'; echo 'heat.cpp:3:1: error: no such thing'; exit 1")
        self.patch(user=1000, more="import fcntl\ndef flock(*_): raise OSError(38, '')\nfcntl.flock = flock")
        self.assert_fails(self.kontor("build"), "heat.cpp:3:1: error: no such thing", "kontor: the build failed", code=3)

    def test_programs_for_simulated_ranks_are_not_run(self):
        for command in ("run", "test"):
            self.assert_fails(self.kontor(command, KONTOR_PRESET="smpi"), "preset smpi", "--simulate")

    def test_a_python_that_is_none_or_too_old_or_lacks_a_package(self):
        """One line, by whatever starts the command; and pip says the same."""
        old = "import sys; sys.version_info, sys.version = (3, 9, 18), '3.9.18 (main)'; "
        self.fake("old", f'exec {sys.executable} -c "{old} exec(sys.argv[1])" "$2"')
        for python, found in ("/nothing", "there is none"), (self.bin / "old", f"{self.bin}/old is 3.9.18"):
            done = self.kontor("help", KONTOR_PYTHON=str(python))
            self.assert_fails(done, f"kontor: Python 3.11 or later is needed, and {found}: install python3.11 ")
            self.assertEqual(done.stderr.count("\n"), 1)
        words = [sys.executable, "-c", f"{old} import kontor.__main__"]
        done = subprocess.run(words, cwd=ROOT / "python", capture_output=True, text=True, check=False)
        self.assert_fails(done, "Python 3.11 or later is needed")
        self.assertIn('requires-python = ">=3.11"', self.lines(ROOT / "pyproject.toml"))
        self.write("patches/yaml.py", "raise ModuleNotFoundError(name='yaml')")
        self.assert_fails(self.kontor("compare", "plate.yaml"), "compare needs Python with yaml", "E-REPORT-PACKAGE")

    def test_targets_and_options(self):
        self.log_cmake('touch "$KONTOR_BUILD_DIR/build.ninja"')
        self.succeeds("build", "heat", "-D", "X=1", "cg")
        first, *calls = self.calls()
        self.assertIn("-D X=1", first)
        built = [call.split("--target ")[1].split()[0] for call in calls if "--build" in call]
        self.assertEqual(built, ["heat", "cg"])

    def test_kokkos_from_its_sources(self):
        """By scripts/kokkos, of sources as far as they are looked at, and a CMake that says how it was called."""
        for file in "kokkos/bin/nvcc_wrapper", "kokkos-kernels/CMakeLists.txt":
            self.write(file, "default_arch=sm_70\n")
        self.log_cmake("")
        self.fake("cc", "")
        prefix = self.folder / "opt"
        kernels = ("-DKokkosKernels_ADD_DEFAULT_ETI=OFF", "-DKokkosKernels_ENABLE_TPL_BLAS=ON",
                   f"-DKokkos_DIR={prefix}/lib/cmake/Kokkos")
        for architecture, of_kokkos, of_kernels in (
            ([], {"-DKokkos_ENABLE_OPENMP=ON", "-DKokkos_ENABLE_IMPL_MDSPAN=OFF", f"-DCMAKE_INSTALL_PREFIX={prefix}"},
             set(kernels)),
            (["HOPPER90"], {"-DKokkos_ENABLE_CUDA=ON", "-DKokkos_ARCH_HOPPER90=ON",
                            "-DKokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF", f"-DCMAKE_CXX_COMPILER={prefix}/nvcc_wrapper"},
             {*kernels, "-DKokkosKernels_ENABLE_TPL_CUBLAS=ON", f"-DCMAKE_CXX_COMPILER={prefix}/nvcc_wrapper"}),
        ):
            subprocess.run([SCRIPTS / "kokkos", "kokkos", "opt", *architecture], cwd=self.folder, env=self.environment,
                           check=True, timeout=60)
            kokkos, build, after, _ = self.calls()
            self.assertEqual(kokkos.split()[:4], ["-S", f"{self.folder}/kokkos", "-B", f"{prefix}/build-kokkos"])
            self.assertIn(f"--build {prefix}/build-kokkos --target install", build)
            self.assertLessEqual(of_kokkos, set(kokkos.split()))
            self.assertLessEqual(of_kernels, set(after.split()))
            self.assertEqual("CUDA" in kokkos + after, bool(architecture))
        self.assertEqual(self.lines("opt/nvcc_wrapper"), ["default_arch=sm_90"])
        done = subprocess.run([SCRIPTS / "kokkos", "opt", "kokkos"], cwd=self.folder, env=self.environment, check=False,
                              capture_output=True, text=True)
        self.assert_fails(done, "SOURCE is a clone of")


@unittest.skipUnless(shutil.which("git") and shutil.which("cmake"), "no git or no cmake")
class Revision(KontorTest):
    def test_only_the_sources_own_repository_tells(self):
        """What programs say that they were built from: not that of another user's hook, nor one around an archive; of a
        folder that belongs to another user."""
        for name, text in {"in": "@git_revision@", "archive/VERSION": "1", "broken/.git": "gitdir: /nothing"}.items():
            self.write(name, text)
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for words in ["init", "-q"], [*author, "commit", "-q", "--allow-empty", "-m", "a"]:
            subprocess.run(["git", *words], cwd=self.folder, check=True, timeout=60)
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_DIR": "/nothing",
                       "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "GIT_INDEX_FILE": "/nothing"}
        for source, revision, says in ((".", r"^[0-9a-f]{12}$", r"\A\Z"), ("archive", "^unknown$", r"\A\Z"),
                                       ("broken", "^unknown$", "not a git repository")):
            with self.subTest(source):
                words = ["cmake", f"-Dsource_dir={self.folder / source}", "-Dtemplate=in", "-Doutput=out",
                         "-Drevision=revision", "-P", ROOT / "cmake/WriteBuildInfo.cmake"]
                done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=True, timeout=60,
                                      env=environment)
                self.assertRegex(self.lines("out")[0], revision)
                self.assertEqual(self.lines("out"), self.lines("revision"))
                self.assertRegex(done.stderr, says)

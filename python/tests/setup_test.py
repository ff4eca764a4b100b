# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Set-up on machines that lack something. Nothing is installed: the commands on PATH are fakes."""

import os
import shutil
import subprocess
import sys
import unittest

from command import ROOT, KontorTest

TOOLS = """bash cat comm cut dirname basename env flock getconf grep head join kill ls mkdir mktemp paste readlink rm sed seq
           sleep sort tail tr true wc""".split()

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

    def make_kokkos(self):
        """Sources as far as they are looked at, and a CMake that says how it was called."""
        for file in "kokkos/CMakeLists.txt", "kokkos/bin/nvcc_wrapper", "kokkos-kernels/CMakeLists.txt":
            self.write(file, "default_arch=sm_70\n")
        self.write("kokkos/cmake/kokkos_arch.cmake", 'kokkos_arch_option(HOPPER90 GPU "NVIDIA Hopper generation CC 9.0" "X")\n')
        self.log_cmake('if [[ $1 == --preset ]]; then touch "$KONTOR_BUILD_DIR/build.ninja"; fi')
        self.fake("cc", "")
        (self.bin / "chmod").symlink_to(shutil.which("chmod"))
        return str(self.folder / "kokkos")

    def built(self, kokkos, **environment):
        """The calls of CMake for heat, with a Kokkos of these sources."""
        self.succeeds("build", "heat", KONTOR_KOKKOS_SOURCE=kokkos, **environment)
        return self.calls()

    def assert_options(self, call, *options):
        self.assertLessEqual(set(options), set(call.split()))

    def test_kokkos_from_its_sources(self):
        kokkos, to = self.make_kokkos(), str(self.folder / "build/kokkos")
        self.fake("nvcc", "")
        calls = self.built(kokkos)  # without a GPU
        self.assertEqual([call.split()[1] for call in calls[:4]], [kokkos, f"{to}-build", f"{kokkos}-kernels", f"{to}-kernels-build"])
        self.assert_options(calls[0], "-DKokkos_ENABLE_OPENMP=ON", "-DKokkos_ENABLE_IMPL_MDSPAN=OFF", f"-DCMAKE_INSTALL_PREFIX={to}")
        self.assert_options(calls[2], f"-DKokkos_DIR={to}/lib/cmake/Kokkos", "-DKokkosKernels_ADD_DEFAULT_ETI=OFF")
        self.assertNotIn("CUDA", "".join(calls))
        self.assert_options(calls[4], "--preset", f"-DKokkos_DIR={to}/lib/cmake/Kokkos", f"-DKokkosKernels_DIR={to}/lib/cmake/KokkosKernels")
        self.assertEqual(len(self.built(kokkos)), 1)  # heat alone

        self.fake("nvidia-smi", "echo 9.0; echo 9.0")
        self.fake("ninja", "")
        calls, wrapper = self.built(kokkos), f"-DCMAKE_CXX_COMPILER={to}/nvcc_wrapper"
        self.assert_options(calls[0], "-DKokkos_ENABLE_CUDA=ON", "-DKokkos_ARCH_HOPPER90=ON", "-DKokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF", wrapper)
        self.assert_options(calls[2], "-G", "Ninja", "-DKokkosKernels_ENABLE_TPL_CUBLAS=ON")
        self.assert_options(calls[4], wrapper)
        self.assertIn("sm_90", (self.folder / "build/kokkos/nvcc_wrapper").read_text())
        self.assert_fails(self.kontor("build", KONTOR_KOKKOS_SOURCE=kokkos, KONTOR_CUDA_ARCH="91"), "KONTOR_CUDA_ARCH is '91'")
        self.assertNotIn("CUDA", "".join(self.built(kokkos, KONTOR_CUDA_ARCH="off")))

    def test_a_kokkos_that_cannot_be_built(self):
        kokkos = self.make_kokkos()
        self.assert_fails(self.kontor("build", KONTOR_KOKKOS_SOURCE=f"{kokkos}-kernels"), "KONTOR_KOKKOS_SOURCE is '")
        self.fake("cmake", "echo 'CMake Error at a.cmake:1'; exit 1")
        self.assert_fails(self.kontor("build", KONTOR_KOKKOS_SOURCE=kokkos), "CMake Error at a.cmake:1", f"{kokkos} could not be built", code=3)


@unittest.skipUnless(shutil.which("git") and shutil.which("cmake"), "no git or no cmake")
class Revision(KontorTest):
    """What programs say that they were built from."""

    def test_only_the_sources_own_repository_tells(self):
        """Not that of another user's hook, nor one around an archive; of a folder that belongs to another user."""
        self.write("in", "@git_revision@")
        self.write("archive/VERSION", "1")
        self.write("broken/.git", "gitdir: /nothing")
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for words in ["init", "-q"], [*author, "commit", "-q", "--allow-empty", "-m", "a"]:
            subprocess.run(["git", *words], cwd=self.folder, check=True, timeout=60)
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1",
                       "GIT_DIR": "/nothing", "GIT_INDEX_FILE": "/nothing"}
        for source, revision, says in (".", r"^[0-9a-f]{12}$", r"\A\Z"), ("archive", "^unknown$", r"\A\Z"), ("broken", "^unknown$", "not a git repository"):
            with self.subTest(source):
                done = subprocess.run(["cmake", f"-Dsource_dir={self.folder / source}", "-Dtemplate=in", "-Doutput=out", "-Drevision=revision",
                                       "-P", ROOT / "cmake/WriteBuildInfo.cmake"],
                                      cwd=self.folder, capture_output=True, text=True, check=True, timeout=60, env=environment)
                self.assertRegex(self.lines("out")[0], revision)
                self.assertEqual(self.lines("out"), self.lines("revision"))
                self.assertRegex(done.stderr, says)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spack: what Kontor is built from, and how.

    spack repo add /path/to/kontor/packaging/spack
    spack install kontor ^kokkos+openmp

builds the revision that is checked out here; `spack dev-build` and `spack develop` build the files as they are.
"""

from pathlib import Path

from spack.package import *

CHECKOUT = Path(__file__).resolve().parents[4]


class Kontor(CMakePackage):
    """Kokkos mini-apps over a swappable communication layer."""

    git = f"file://{CHECKOUT}"

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")

    variant("miniapps", default=True, description="Build the mini-apps, besides the communication layer")
    variant("native", default=False, description="Compile for the processor of the machine that builds")
    variant("cuda", default=False, description="Refuse a Kokkos without CUDA")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("git", type="build")
    depends_on("mpi@3.1:")
    depends_on("kokkos@3.4:")
    depends_on("kokkos+cuda+cuda_lambda", when="+cuda")
    depends_on("fmt")
    with when("+miniapps"):
        depends_on("kokkos-kernels")
        depends_on("blas")
        depends_on("metis")
        depends_on("hdf5+mpi")
        depends_on("yaml-cpp")
        depends_on("muparser")
        depends_on("cli11")
        depends_on("nlohmann-json")
    depends_on("googletest", type="test")

    def cmake_args(self):
        return [
            self.define_from_variant("KONTOR_MINIAPPS", "miniapps"),
            self.define_from_variant("KONTOR_NATIVE", "native"),
            self.define_from_variant("KONTOR_REQUIRE_CUDA", "cuda"),
            self.define("KONTOR_TESTS", self.run_tests),
            self.define("KONTOR_EXAMPLES", False),
        ]

    @run_after("install")
    def install_apps(self):
        """CMake installs the communication layer; programs and decks go beside it."""
        if self.spec.satisfies("+miniapps"):
            install_tree(join_path(self.build_directory, "bin"), self.prefix.bin)
            install_tree("inputs", join_path(self.prefix.share, "kontor", "inputs"))

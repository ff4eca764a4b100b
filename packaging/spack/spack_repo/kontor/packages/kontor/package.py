# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installed once by hand with Spack 0.23 and Debian's packages. Not tested: Spack 1.0, which its imports need, and the
# variants cuda, rocm and nccl. A test compares its dependencies and options with those of the build.
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Kontor(CMakePackage, CudaPackage, ROCmPackage):
    """Kokkos mini-apps over a swappable communication layer: raw-pointer MPI, typed Views, shared memory, NCCL, CUDA IPC."""

    git = f"file://{Path(__file__).resolve().parents[6]}"

    tags = ["proxy-app", "benchmark"]

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")

    variant("miniapps", default=True, description="Build the mini-apps and the command kontor")
    variant("openmp", default=False, description="Compute with the threads of OpenMP")
    variant("nccl", default=False, description="Build the backend nccl", when="+cuda")
    variant("report", default=True, description="Bring what kontor report needs", when="+miniapps")
    variant("native", default=False, description="Compile for the processor of the machine that builds")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")

    depends_on("mpi@3.1:")
    depends_on("kokkos@3.4:5.2")  # the last that docs/tested.md has
    depends_on("kokkos+openmp", when="+openmp")
    depends_on("nccl@2.18:", when="+nccl")
    depends_on("fmt")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos+cuda+cuda_lambda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    for target in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos+rocm amdgpu_target={target}", when=f"+rocm amdgpu_target={target}")

    with when("+miniapps"):
        depends_on("kokkos-kernels")
        for arch in CudaPackage.cuda_arch_values:
            depends_on(f"kokkos-kernels+cuda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        depends_on("blas")
        depends_on("fftw@3 precision=float,double")
        depends_on("metis")
        depends_on("hdf5+mpi")
        depends_on("yaml-cpp")
        depends_on("muparser")
        depends_on("cli11")
        depends_on("nlohmann-json")
        depends_on("python@3.11:", type=("build", "run"))
        depends_on("py-pyyaml", type="run")
    with when("+report"):
        depends_on("py-h5py", type="run")
        depends_on("py-matplotlib", type="run")
        depends_on("py-jinja2", type="run")
    depends_on("googletest", type="test")

    conflicts("+cuda", when="+rocm", msg="Kokkos has one GPU space at a time")
    conflicts("+rocm", when="+miniapps", msg="no mini-app has run on AMD GPUs; use ~miniapps")
    conflicts("cuda_arch=none", when="+cuda", msg="CUDA needs an architecture, such as cuda_arch=90")

    def cmake_args(self):
        args = [
            self.define_from_variant("KONTOR_MINIAPPS", "miniapps"),
            self.define_from_variant("KONTOR_NATIVE", "native"),
            self.define_from_variant("KONTOR_REQUIRE_CUDA", "cuda"),
            self.define_from_variant("KONTOR_REQUIRE_THREADS", "openmp"),
            self.define_from_variant("KONTOR_BACKEND_NCCL", "nccl"),
            self.define("KONTOR_TESTS", self.run_tests),
            self.define("KONTOR_EXAMPLES", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self.spec["kokkos"].kokkos_cxx))
        if self.spec.satisfies("+rocm"):
            args.append(self.define("CMAKE_CXX_COMPILER", self.spec["hip"].hipcc))
        return args

    def test_run(self):
        """a small run of heat is verified"""
        if self.spec.satisfies("~miniapps"):
            raise SkipTest("the mini-apps are not installed")
        kontor = Executable(self.prefix.bin.kontor)
        deck = join_path(self.prefix.share, "kontor", "inputs", "heat", "plate.yaml")
        out = kontor("run", deck, "-n", "1", "--quiet", "--set", "problem.cells=[16,16]", output=str.split)
        assert "VERIFICATION PASSED" in out

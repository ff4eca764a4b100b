# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kokkos from the source tree KONTOR_KOKKOS_SOURCE, for a distribution's Kokkos without threads or GPUs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..messages import Failure, have, said, say

if TYPE_CHECKING:
    from .setup import Build

COMMON = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_STANDARD=20", "-DCMAKE_INSTALL_LIBDIR=lib"]
KERNELS = ["-DKokkosKernels_ENABLE_ALL_COMPONENTS=OFF", "-DKokkosKernels_ENABLE_COMPONENT_BLAS=ON",
           "-DKokkosKernels_ENABLE_COMPONENT_SPARSE=ON", "-DKokkosKernels_ADD_DEFAULT_ETI=OFF"]


def generator(folder: Path) -> list[str]:
    """The option for a new build folder: Ninja where it is, because a bare Debian has no make; else CMake's default."""
    return ["-G", "Ninja"] if have("ninja") and not (folder / "CMakeCache.txt").exists() else []


def build_kokkos(build: Build) -> list[str]:
    """Installs Kokkos, and Kokkos Kernels if its tree is beside that of Kokkos, into <build>/kokkos. Returns the
    options by which CMake finds them; none if there is nothing to do."""
    environment, prefix = build.environment, build.folder / "kokkos"
    source = Path(environment["KONTOR_KOKKOS_SOURCE"]).resolve()
    kernels = source.with_name("kokkos-kernels")
    if not (source / "bin/nvcc_wrapper").is_file() or not (source / "CMakeLists.txt").is_file():
        raise Failure(f"KONTOR_KOKKOS_SOURCE is '{environment['KONTOR_KOKKOS_SOURCE']}'; allowed is the folder of"
                      " Kokkos' sources, such as a clone of github.com/kokkos/kokkos")
    if not build.can_configure or not _links_blas(environment):
        build.install_missing()

    architecture = _cuda_architecture(source, build)
    common = [*COMMON, f"-DCMAKE_INSTALL_PREFIX={prefix}"]
    # Why each: docs/gpu.md.
    options = [*common, "-DKokkos_ENABLE_SERIAL=ON", "-DKokkos_ENABLE_OPENMP=ON", "-DKokkos_ENABLE_IMPL_MDSPAN=OFF"]
    of_kernels = [*common, f"-DKokkos_DIR={prefix}/lib/cmake/Kokkos", *KERNELS]
    if _links_blas(environment):  # the names of a BLAS, for which Kokkos Kernels would ask a Fortran compiler
        of_kernels += ["-DKokkosKernels_ENABLE_TPL_BLAS=ON", "-DF77_BLAS_MANGLE=(name,NAME) name ## _"]
    prefix.mkdir(parents=True, exist_ok=True)
    compiler = []
    if architecture:
        wrapper = prefix / "nvcc_wrapper"
        text = (source / "bin/nvcc_wrapper").read_text(encoding="utf-8")
        number = re.sub("[A-Z]", "", architecture)
        wrapper.write_text(text.replace("sm_70", f"sm_{number}"), encoding="utf-8")  # CUDA 13 does not know sm_70
        wrapper.chmod(0o755)
        compiler = [f"-DCMAKE_CXX_COMPILER={wrapper}"]
        options += [*compiler, "-DKokkos_ENABLE_CUDA=ON", f"-DKokkos_ARCH_{architecture}=ON",
                    "-DKokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF"]
        of_kernels += [*compiler, "-DKokkosKernels_ENABLE_TPL_CUBLAS=ON", "-DKokkosKernels_ENABLE_TPL_CUSPARSE=ON",
                       "-DKokkosKernels_ENABLE_TPL_CUSOLVER=OFF"]

    wanted, done = " ".join([str(source), *options, *of_kernels]), prefix / "kontor-options"
    if not done.exists() or done.read_text(encoding="utf-8") != wanted:
        cuda = architecture and f" and CUDA for {architecture}"
        say(f"building Kokkos with OpenMP{cuda} (some minutes, once; output in {build.log})")
        _install(build, source, build.folder / "kokkos-build", options)
        if (kernels / "CMakeLists.txt").is_file():
            _install(build, kernels, build.folder / "kokkos-kernels-build", of_kernels)
        else:
            say(f"no Kokkos Kernels in {kernels}: no matmul, and cg without gauss_seidel")
        done.write_text(wanted, encoding="utf-8")
    elif build.is_configured:
        return []
    found = prefix / "lib/cmake"
    return [f"-DKokkos_DIR={found}/Kokkos", f"-DKokkosKernels_DIR={found}/KokkosKernels", *compiler]


def _install(build: Build, source: Path, folder: Path, options: list[str]) -> None:
    configure = ["cmake", *generator(folder), "-S", str(source), "-B", str(folder), *options]
    install = ["cmake", "--build", str(folder), "--target", "install", "--parallel", build.jobs]
    if not (build.log.run(configure) and build.log.run(install)):
        raise build.log.failed(f"{source} could not be built")


def _cuda_architecture(source: Path, build: Build) -> str:
    """What Kokkos calls the GPU to build for, such as HOPPER90; nothing where there is no nvcc, no GPU, or a preset
    that is for CPUs."""
    number = build.environment.get("KONTOR_CUDA_ARCH", "")
    if not have("nvcc") or build.place.preset == "openmp" or number == "off":
        return ""
    if not number:
        capability = said("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader").partition("\n")[0]
        number = capability.replace(".", "") if "." in capability else ""
        if not number:
            say("nvcc is here, but no GPU: building Kokkos without CUDA; KONTOR_CUDA_ARCH=90, say, builds for one")
            return ""
    known = source / "cmake/kokkos_arch.cmake"
    text = known.read_text(encoding="utf-8") if known.exists() else ""
    found = re.search(rf'(?im)^ *kokkos_arch_option\(([A-Z]+{re.escape(number)}) GPU "NVIDIA', text)
    if not found:
        raise Failure(f"KONTOR_CUDA_ARCH is '{number}', which these sources of Kokkos do not know; allowed are 80, 90"
                      " and others in cmake/kokkos_arch.cmake, and off")
    return found[1]


def _links_blas(environment: Mapping[str, str]) -> bool:
    compiler, program = environment.get("CC") or "cc", b"int main(void) { return 0; }"
    words = [compiler, "-x", "c", "-", "-lblas", "-o", "/dev/null"]
    return have(compiler) and not subprocess.run(words, input=program, stderr=subprocess.DEVNULL, check=False).returncode

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the backends for NVIDIA GPUs are compiled with, where it is there: the CUDA toolkit, and nvcc for
# sources that end in .cu. Nothing here is needed, unless KONTOR_REQUIRE_CUDA is ON (preset "cuda").

option(KONTOR_REQUIRE_CUDA "Stop if Kokkos has no CUDA space, instead of building for CPUs" OFF)
if(KONTOR_REQUIRE_CUDA AND NOT KONTOR_KOKKOS_CUDA)
  message(FATAL_ERROR "KONTOR_REQUIRE_CUDA is ON, but the Kokkos found (${Kokkos_DIR}) has no CUDA space.\n"
    "  Set Kokkos_ROOT to one that has, and the compiler to its nvcc_wrapper:\n"
    "  cmake --preset cuda -DKokkos_ROOT=<prefix> -DCMAKE_CXX_COMPILER=<prefix>/bin/nvcc_wrapper"
  )
endif()

# Kokkos Kernels goes by CUDA's own sparse and dense kernels only if it was configured to. Looked for beside
# this Kokkos alone: another one's would bring the other Kokkos with it.
if(KONTOR_REQUIRE_CUDA)
  find_package(KokkosKernels QUIET PATHS "${KokkosKernels_ROOT}" "${Kokkos_DIR}/.." "${Kokkos_DIR}/../../.." NO_DEFAULT_PATH)
  if(NOT KokkosKernels_FOUND)
    message(STATUS "Kokkos Kernels: none beside Kokkos in ${Kokkos_DIR}; so no matmul, and cg without gauss_seidel and cuSPARSE")
  else()
    set(_missing "")
    foreach(_library CUSPARSE CUBLAS) # its targets have been renamed between versions
      if(NOT TARGET Kokkos::${_library} AND NOT TARGET KokkosKernels::${_library})
        list(APPEND _missing "-DKokkosKernels_ENABLE_TPL_${_library}=ON")
      endif()
    endforeach()
    if(_missing)
      list(JOIN _missing " " _missing)
      message(WARNING "Kokkos Kernels in ${KokkosKernels_DIR} goes without CUDA's own kernels; configure it "
        "with ${_missing}"
      )
    else()
      message(STATUS "Kokkos Kernels ${KokkosKernels_VERSION} with cuSPARSE and cuBLAS: ${KokkosKernels_DIR}")
    endif()
    unset(_missing)
  endif()
endif()

set(KONTOR_NVCC OFF)
if(NOT KONTOR_KOKKOS_HIP)
  find_package(CUDAToolkit QUIET)
endif()
if(CUDAToolkit_FOUND)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES 90)
    if(KONTOR_KOKKOS_CUDA)
      set(CMAKE_CUDA_ARCHITECTURES ${Kokkos_CUDA_ARCHITECTURES})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(KONTOR_NVCC ON)
    set(CMAKE_CUDA_RUNTIME_LIBRARY None) # it is the one that Kokkos links
  endif()
endif()

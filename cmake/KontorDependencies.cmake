# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What Kontor stands on. Each entry is found, never vendored; what is missing is a configure error
# that names the Debian package and the variable that points CMake at another installation.

# kontor_require(<name> PACKAGE <Debian package> HINT <variable> FOUND <bool>)
function(kontor_require name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PACKAGE;HINT;FOUND" "")
  if(NOT arg_FOUND)
    message(FATAL_ERROR
      "Kontor needs ${name}, and CMake did not find it.\n"
      "  Debian/Ubuntu:       apt-get install ${arg_PACKAGE}\n"
      "  another installation: cmake -D${arg_HINT}=<prefix> ..."
    )
  endif()
endfunction()

set(_least_GNU 12)
set(_least_Clang 14)
if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS "${_least_${CMAKE_CXX_COMPILER_ID}}")
  message(FATAL_ERROR "Kontor needs g++ ${_least_GNU} or clang++ ${_least_Clang}, or later. CMake found "
    "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: ${CMAKE_CXX_COMPILER}\n"
    "  Debian/Ubuntu:    apt-get install g++-${_least_GNU}\n"
    "  another compiler: cmake -DCMAKE_CXX_COMPILER=<path> ..."
  )
endif()

include(CheckSymbolExists)
include(KontorKokkos)
kontor_require("Kokkos (3.4 or later)" PACKAGE libtrilinos-kokkos-dev HINT Kokkos_ROOT FOUND "${Kokkos_FOUND}")

option(KONTOR_REQUIRE_THREADS "Stop if Kokkos has no threads on the host, instead of building without (preset openmp)" OFF)
if(KONTOR_REQUIRE_THREADS AND NOT KONTOR_KOKKOS_THREADS)
  message(FATAL_ERROR "KONTOR_REQUIRE_THREADS is ON, but the Kokkos found (${Kokkos_DIR}) computes by one thread.\n"
    "  Set Kokkos_ROOT to one that has OpenMP: scripts/kokkos builds one from its sources."
  )
endif()
include(KontorKokkosProbe)
include(KontorCuda)

set(MPI_CXX_SKIP_MPICXX ON) # the C++ bindings, which MPI 3 does not have
find_package(MPI 3.1 QUIET COMPONENTS C CXX)
kontor_require("MPI (3.1 or later)" PACKAGE "libopenmpi-dev openmpi-bin" HINT MPI_HOME FOUND "${MPI_FOUND}")

set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(MPICH_VERSION mpi.h KONTOR_MPI_IS_MPICH)
unset(CMAKE_REQUIRED_LIBRARIES)

find_package(fmt QUIET)
kontor_require("{fmt}" PACKAGE libfmt-dev HINT fmt_ROOT FOUND "${fmt_FOUND}")

if(KONTOR_MINIAPPS)
  find_package(yaml-cpp QUIET)
  kontor_require("yaml-cpp" PACKAGE libyaml-cpp-dev HINT yaml-cpp_ROOT FOUND "${yaml-cpp_FOUND}")
  if(NOT TARGET yaml-cpp::yaml-cpp) # yaml-cpp before 0.8
    add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
  endif()

  find_package(muparser QUIET)
  kontor_require("muParser" PACKAGE libmuparser-dev HINT muparser_ROOT FOUND "${muparser_FOUND}")

  include(KontorKokkosKernels) # optional
  find_package(METIS QUIET)    # optional
  find_package(FFTW QUIET)     # optional

  find_package(CLI11 QUIET)
  kontor_require("CLI11" PACKAGE libcli11-dev HINT CLI11_ROOT FOUND "${CLI11_FOUND}")

  find_package(nlohmann_json QUIET)
  kontor_require("JSON for Modern C++" PACKAGE nlohmann-json3-dev HINT nlohmann_json_ROOT
    FOUND "${nlohmann_json_FOUND}"
  )

  include(KontorHDF5)
  kontor_require("HDF5" PACKAGE libhdf5-openmpi-dev HINT HDF5_ROOT FOUND "${HDF5_FOUND}")
endif()

if(KONTOR_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(STATUS "No GoogleTest (Debian/Ubuntu: apt-get install libgtest-dev; elsewhere set GTest_ROOT): no tests")
    set(KONTOR_TESTS OFF)
  endif()
endif()

# Projects that take Kontor in with add_subdirectory() must see the targets that kontor::comm links.
get_directory_property(kontor_imported_targets IMPORTED_TARGETS)
foreach(target IN LISTS kontor_imported_targets)
  set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL TRUE)
endforeach()

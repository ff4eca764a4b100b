# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles and runs kokkos_probe.cpp, once, with a Kokkos that has a choice of Views (4.6 and later): snapshots of it
# crash with some compilers, or read garbage, before anything of Kontor's is called.

find_file(KONTOR_KOKKOS_CONFIG KokkosCore_config.h
  PATHS ${Kokkos_INCLUDE_DIRS} ${Kokkos_DIR}/../../../include NO_DEFAULT_PATH NO_CACHE
)
set(_version 0)
if(KONTOR_KOKKOS_CONFIG)
  file(STRINGS ${KONTOR_KOKKOS_CONFIG} _version REGEX "define KOKKOS_VERSION +[0-9]+")
  string(REGEX REPLACE "[^0-9]" "" _version "${_version}")
endif()
set(_runs_here ON)
if(CMAKE_CROSSCOMPILING OR "HIP" IN_LIST Kokkos_DEVICES OR "SYCL" IN_LIST Kokkos_DEVICES)
  set(_runs_here OFF)
elseif(KONTOR_KOKKOS_CUDA)
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE _no_gpu OUTPUT_QUIET ERROR_QUIET)
  if(NOT _no_gpu EQUAL 0)
    set(_runs_here OFF)
  endif()
endif()

if(_runs_here AND _version GREATER_EQUAL 40600 AND NOT "${KONTOR_KOKKOS_WORKS}" STREQUAL "${Kokkos_DIR}")
  try_run(_status _compiled ${CMAKE_CURRENT_BINARY_DIR}/kokkos_probe ${CMAKE_CURRENT_LIST_DIR}/kokkos_probe.cpp
    LINK_LIBRARIES Kontor::kokkos CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
    COMPILE_OUTPUT_VARIABLE _output RUN_OUTPUT_VARIABLE _output_of_run
  )
  set(_result "${_status}")
  unset(_status CACHE) # asked again next time, whatever was repaired
  unset(_compiled CACHE)
  if(NOT _result STREQUAL "0")
    string(APPEND _output "${_output_of_run}")
    message(FATAL_ERROR "The Kokkos found (${Kokkos_DIR}) does not work with this compiler: a program of a few lines that "
      "makes, assigns and copies Views (cmake/kokkos_probe.cpp) "
      "was expected to end with 0, and ended with '${_result}'.\n"
      "  Build that Kokkos with -DKokkos_ENABLE_IMPL_MDSPAN=OFF, as scripts/kokkos does; or set Kokkos_ROOT to another one.\n${_output}"
    )
  endif()
  set(KONTOR_KOKKOS_WORKS "${Kokkos_DIR}" CACHE INTERNAL "The Kokkos that kokkos_probe.cpp has run with")
endif()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What makes compiling faster. Precompiled headers: those of the libraries that Kontor stands on, compiled once for each set of compiler
# flags. They change nothing but the time to compile. CMAKE_DISABLE_PRECOMPILE_HEADERS=ON does without, and so
# does the preset "debug": there a missing #include shows.

if(KONTOR_KOKKOS_GPU) # nvcc cannot read what g++ precompiled; HIP compiles twice
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# ccache refuses precompiled headers unless it is told that macros and times in them do not matter.
set(KONTOR_PRECOMPILE_FLAGS "")
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CMAKE_CXX_COMPILER_LAUNCHER}
  )
  set(KONTOR_PRECOMPILE_FLAGS $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

set(_unity ON)
if(KONTOR_KOKKOS_GPU) # nvcc is slow in large sources, and takes names of two anonymous namespaces for one
  set(_unity OFF)
endif()
option(KONTOR_UNITY "Compile several sources at once where it saves time" ${_unity})

if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 0) # all at once
endif()

# kontor_unity(<target>): compiles all sources at a time, which read the headers and instantiate templates once. Their anonymous
# namespaces become one, so names in them must differ.
function(kontor_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${KONTOR_UNITY})
endfunction()

# kontor_precompile(<target> <set>): compiles <target> with a set of precompiled headers, whose compiler flags
# must be its own:
#   portable  the communication layer
#   native    everything else that is optimized; with JSON, which is slow to read
#   once      kontor_runs_once; with JSON. (With the headers of `native` g++ 12 optimizes as much as there; g++ 13 refuses them.)
#   test      what needs no optimization, with GoogleTest and the communication layer
function(kontor_precompile target set)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  if(NOT TARGET kontor_precompiled_${set})
    kontor_precompiled_headers(${set})
  endif()
  target_precompile_headers(${target} REUSE_FROM kontor_precompiled_${set})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:kontor_precompiled_${set}_flags>)
endfunction()

function(kontor_precompiled_headers set)
  set(headers <Kokkos_Core.hpp> <mpi.h> <fmt/format.h> <fmt/ranges.h>)
  set(libraries Kontor::kokkos MPI::MPI_CXX fmt::fmt)
  if(set MATCHES "native|once" AND TARGET nlohmann_json::nlohmann_json)
    list(APPEND headers <nlohmann/json.hpp>)
    list(APPEND libraries nlohmann_json::nlohmann_json)
  elseif(set STREQUAL "test")
    list(APPEND headers <gtest/gtest.h> <kontor/comm/comm.hpp>)
    list(APPEND libraries GTest::gtest kontor::comm)
  endif()

  # Compilers reject precompiled headers whose macros or code generation differ: a target that does not link
  # one of the libraries is compiled with the flags of that library too, such as Kokkos' -fopenmp. Those of
  # HDF5 are always among them: its package may define _FILE_OFFSET_BITS. A rejected header is read as text.
  add_library(kontor_precompiled_${set}_flags INTERFACE)
  if(TARGET Kontor::hdf5)
    target_compile_definitions(kontor_precompiled_${set}_flags INTERFACE
      $<TARGET_PROPERTY:Kontor::hdf5,INTERFACE_COMPILE_DEFINITIONS>
    )
  endif()
  foreach(library IN LISTS libraries)
    target_include_directories(kontor_precompiled_${set}_flags SYSTEM INTERFACE
      $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>
    )
    target_compile_definitions(kontor_precompiled_${set}_flags INTERFACE
      $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>
    )
    target_compile_options(kontor_precompiled_${set}_flags INTERFACE
      $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_OPTIONS>
    )
  endforeach()

  if(set STREQUAL "test") # an object library must have a source, and an empty one takes as long as this
    set(file ${PROJECT_SOURCE_DIR}/tests/mpi_main.cpp)
  else()
    set(file ${PROJECT_BINARY_DIR}/precompiled/${set}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n")
  endif()
  add_library(kontor_precompiled_${set} OBJECT ${file})
  target_precompile_headers(kontor_precompiled_${set} PRIVATE ${headers})
  set_target_properties(kontor_precompiled_${set} PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(kontor_precompiled_${set} PRIVATE ${libraries} kontor_flags kontor_precompiled_${set}_flags)
  if(set STREQUAL "portable")
    set_target_properties(kontor_precompiled_${set} PROPERTIES POSITION_INDEPENDENT_CODE ON KONTOR_PORTABLE ON)
  elseif(set STREQUAL "once")
    target_link_libraries(kontor_precompiled_${set} PRIVATE kontor_runs_once)
  elseif(set STREQUAL "test")
    target_link_libraries(kontor_precompiled_${set} PRIVATE kontor_not_optimized)
  endif()
endfunction()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds HDF5 and gives it one name, Kontor::hdf5; the parallel library is preferred.

set(KONTOR_HDF5 "auto" CACHE STRING "HDF5 to build with: auto (parallel preferred), parallel or serial")
set_property(CACHE KONTOR_HDF5 PROPERTY STRINGS auto parallel serial)
if(NOT KONTOR_HDF5 MATCHES "^(auto|parallel|serial)$")
  message(FATAL_ERROR "KONTOR_HDF5 is '${KONTOR_HDF5}'; allowed are auto, parallel and serial")
endif()

if(KONTOR_HDF5 STREQUAL "serial")
  set(HDF5_PREFER_PARALLEL FALSE)
else()
  set(HDF5_PREFER_PARALLEL TRUE)
endif()
find_package(HDF5 QUIET COMPONENTS C)
set(_package_of_parallel libhdf5-openmpi-dev)
set(_package_of_serial libhdf5-dev)
set(_kind serial)
if(HDF5_IS_PARALLEL)
  set(_kind parallel)
endif()
if(HDF5_FOUND AND NOT KONTOR_HDF5 MATCHES "^(auto|${_kind})$")
  message(FATAL_ERROR "KONTOR_HDF5=${KONTOR_HDF5}, but the HDF5 found (${HDF5_C_LIBRARIES}) is ${_kind}.\n"
    "  Debian/Ubuntu: apt-get install ${_package_of_${KONTOR_HDF5}}; elsewhere set HDF5_ROOT"
  )
endif()

if(HDF5_FOUND AND HDF5_IS_PARALLEL AND KONTOR_MPI_IS_MPICH AND HDF5_C_LIBRARIES MATCHES "openmpi")
  message(FATAL_ERROR "The HDF5 found (${HDF5_C_LIBRARIES}) is made with Open MPI, but the MPI is MPICH.\n"
    "  Set KONTOR_HDF5=serial, or HDF5_ROOT to an HDF5 made with this MPI"
  )
endif()

if(HDF5_FOUND AND NOT TARGET Kontor::hdf5)
  add_library(Kontor::hdf5 INTERFACE IMPORTED)
  target_include_directories(Kontor::hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_link_libraries(Kontor::hdf5 INTERFACE ${HDF5_C_LIBRARIES})
  target_compile_definitions(Kontor::hdf5 INTERFACE ${HDF5_C_DEFINITIONS})
  if(HDF5_IS_PARALLEL)
    target_link_libraries(Kontor::hdf5 INTERFACE MPI::MPI_C)
  endif()
endif()

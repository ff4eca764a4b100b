# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds NCCL, under NCCL_ROOT or beside the CUDA toolkit, or with a Kokkos that has HIP AMD's RCCL, and gives it one
# name, NCCL::nccl. Used here and by the installed package.

set(_nccl_header nccl.h)
set(_nccl_library nccl)
if(KONTOR_KOKKOS_HIP)
  set(_nccl_header rccl/rccl.h)
  set(_nccl_library rccl)
endif()
find_path(NCCL_INCLUDE_DIR ${_nccl_header} HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(NCCL_LIBRARY ${_nccl_library} HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib)
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)

if(NCCL_INCLUDE_DIR)
  file(STRINGS ${NCCL_INCLUDE_DIR}/${_nccl_header} NCCL_VERSION REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) +[0-9]+")
  string(REGEX REPLACE "[^0-9;]" "" NCCL_VERSION "${NCCL_VERSION}")
  list(JOIN NCCL_VERSION "." NCCL_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR VERSION_VAR NCCL_VERSION)

if(NCCL_FOUND AND NOT TARGET NCCL::nccl)
  add_library(NCCL::nccl UNKNOWN IMPORTED GLOBAL)
  set_target_properties(NCCL::nccl PROPERTIES
    IMPORTED_LOCATION ${NCCL_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${NCCL_INCLUDE_DIR}
  )
endif()

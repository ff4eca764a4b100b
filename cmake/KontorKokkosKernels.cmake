# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds Kokkos Kernels, which nothing needs but what multiplies matrices, and gives it one name,
# Kontor::kokkos_kernels. Debian's comes with Trilinos; see KontorKokkos.cmake.

# It must stand on the Kokkos that was found: another one's would bring that one into the programs, too.
if(Kokkos_LIBRARIES MATCHES "trilinos")
  find_package(KokkosKernels QUIET)
else()
  find_package(KokkosKernels QUIET HINTS "${Kokkos_DIR}/.." "${Kokkos_DIR}/../../.." NO_CMAKE_SYSTEM_PATH NO_SYSTEM_ENVIRONMENT_PATH
    NO_CMAKE_PACKAGE_REGISTRY NO_CMAKE_SYSTEM_PACKAGE_REGISTRY
  )
  get_filename_component(_kontor_beside "${Kokkos_DIR}" DIRECTORY) # Trilinos 16 has targets, and they name it
  if("${KokkosKernels_LIBRARIES};${KokkosKernels_EXPORTED_PACKAGE_LIBS_NAMES}" MATCHES "trilinos"
     AND NOT KokkosKernels_DIR STREQUAL "${_kontor_beside}/KokkosKernels")
    message(FATAL_ERROR "Kokkos Kernels in ${KokkosKernels_DIR} stands on Trilinos' Kokkos, and not on that in ${Kokkos_DIR}.\n"
      "  Set KokkosKernels_ROOT to one that was built with it, or leave it out: -DCMAKE_DISABLE_FIND_PACKAGE_KokkosKernels=ON"
    )
  endif()
  unset(_kontor_beside)
endif()

if(KokkosKernels_FOUND AND NOT TARGET Kontor::kokkos_kernels)
  add_library(Kontor::kokkos_kernels INTERFACE IMPORTED GLOBAL)
  if(KokkosKernels_LIBRARIES MATCHES "trilinos")
    get_filename_component(_kontor_kernels_include "${KokkosKernels_INCLUDE_DIRS}" ABSOLUTE)
    list(FILTER KokkosKernels_LIBRARIES INCLUDE REGEX "kokkoskernels$")
    target_link_libraries(Kontor::kokkos_kernels INTERFACE ${KokkosKernels_LIBRARIES} Kontor::kokkos)
    target_include_directories(Kontor::kokkos_kernels SYSTEM INTERFACE ${_kontor_kernels_include})
    unset(_kontor_kernels_include)
  elseif(TARGET Kokkos::kokkoskernels)
    target_link_libraries(Kontor::kokkos_kernels INTERFACE Kokkos::kokkoskernels)
  else()
    target_link_libraries(Kontor::kokkos_kernels INTERFACE KokkosKernels::all_libs Kontor::kokkos)
  endif()
endif()

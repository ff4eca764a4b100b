# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds Kokkos Kernels, which nothing needs but what multiplies matrices, and gives it one name,
# Kontor::kokkos_kernels. Debian's comes with Trilinos; see KontorKokkos.cmake.

find_package(KokkosKernels QUIET)

if(KokkosKernels_FOUND AND NOT TARGET Kontor::kokkos_kernels)
  add_library(Kontor::kokkos_kernels INTERFACE IMPORTED GLOBAL)
  if(KokkosKernels_LIBRARIES MATCHES "trilinos")
    get_filename_component(_kontor_kernels_include "${KokkosKernels_INCLUDE_DIRS}" ABSOLUTE)
    list(FILTER KokkosKernels_LIBRARIES INCLUDE REGEX "kokkoskernels$")
    target_link_libraries(Kontor::kokkos_kernels INTERFACE ${KokkosKernels_LIBRARIES} Kontor::kokkos)
    target_include_directories(Kontor::kokkos_kernels SYSTEM INTERFACE ${_kontor_kernels_include})
    unset(_kontor_kernels_include)
  else()
    target_link_libraries(Kontor::kokkos_kernels INTERFACE Kokkos::kokkoskernels)
  endif()
endif()

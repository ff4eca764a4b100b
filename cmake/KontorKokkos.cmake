# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds Kokkos and gives it one name, Kontor::kokkos. Used here and by the installed package.
#
# Debian's Kokkos comes with Trilinos: its imported target names an include directory that is not there,
# so the library list and the include directory are linked instead (as SYSTEM: its headers warn).

find_package(Kokkos 3.4 QUIET)
if(NOT Kokkos_FOUND)
  find_package(Kokkos QUIET) # Trilinos gives its own version number (13.2), which a request for 3.4 can refuse
endif()

if(Kokkos_FOUND AND NOT TARGET Kontor::kokkos)
  if(DEFINED Kokkos_LIBRARIES AND Kokkos_LIBRARIES MATCHES "trilinos")
    add_library(Kontor::kokkos INTERFACE IMPORTED GLOBAL)
    target_link_libraries(Kontor::kokkos INTERFACE ${Kokkos_LIBRARIES} ${CMAKE_DL_LIBS})
    get_filename_component(_kontor_kokkos_include "${Kokkos_INCLUDE_DIRS}" ABSOLUTE)
    target_include_directories(Kontor::kokkos SYSTEM INTERFACE ${_kontor_kokkos_include})
    unset(_kontor_kokkos_include)
  else()
    add_library(Kontor::kokkos INTERFACE IMPORTED GLOBAL)
    target_link_libraries(Kontor::kokkos INTERFACE Kokkos::kokkos)
  endif()
endif()

# Whether kernels run on GPUs of NVIDIA (CUDA) or AMD (HIP).
foreach(_space CUDA HIP)
  set(KONTOR_KOKKOS_${_space} OFF)
  if(Kokkos_DEVICES AND ${_space} IN_LIST Kokkos_DEVICES)
    set(KONTOR_KOKKOS_${_space} ON)
  endif()
endforeach()
unset(_space)
set(KONTOR_KOKKOS_GPU OFF)
if(KONTOR_KOKKOS_CUDA OR KONTOR_KOKKOS_HIP)
  set(KONTOR_KOKKOS_GPU ON)
endif()

# Where they run on the host: by several threads, and the variable that says by how many.
set(KONTOR_KOKKOS_THREADS "")
if(KONTOR_KOKKOS_GPU)
  # not on the host
elseif("OPENMP" IN_LIST Kokkos_DEVICES)
  set(KONTOR_KOKKOS_THREADS OMP_NUM_THREADS)
elseif("THREADS" IN_LIST Kokkos_DEVICES)
  set(KONTOR_KOKKOS_THREADS KOKKOS_NUM_THREADS)
endif()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs libraries for other people's codes: find_package(Kontor) gives kontor::<name>.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

option(KONTOR_INSTALL "Make install rules for the communication layer" ${PROJECT_IS_TOP_LEVEL})
set(KONTOR_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Kontor)

# kontor_install(<name>): the library kontor::<name> and its headers.
function(kontor_install name)
  if(NOT KONTOR_INSTALL)
    return()
  endif()
  install(TARGETS kontor_${name} EXPORT KontorTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT kontor
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  )
  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT kontor)
endfunction()

# kontor_install_package([<package> ...]): the package Kontor with all libraries that are installed, which find these packages.
function(kontor_install_package)
  if(NOT KONTOR_INSTALL)
    return()
  endif()
  list(JOIN ARGN " " kontor_packages)
  install(EXPORT KontorTargets NAMESPACE kontor:: DESTINATION ${KONTOR_PACKAGE_DIR} COMPONENT kontor)
  get_property(kontor_mpi_compiler CACHE MPI_CXX_COMPILER PROPERTY VALUE)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/KontorConfig.cmake.in
    ${PROJECT_BINARY_DIR}/KontorConfig.cmake INSTALL_DESTINATION ${KONTOR_PACKAGE_DIR}
  )
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/KontorConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/KontorConfig.cmake ${PROJECT_BINARY_DIR}/KontorConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/KontorKokkos.cmake ${PROJECT_SOURCE_DIR}/cmake/FindNCCL.cmake
    DESTINATION ${KONTOR_PACKAGE_DIR} COMPONENT kontor
  )
endfunction()

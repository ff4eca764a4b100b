# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs libraries for other people's codes: find_package(Kontor) gives kontor::<name>.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

option(KONTOR_INSTALL "Make install rules for the communication layer" ${PROJECT_IS_TOP_LEVEL})

# kontor_install(<name>): the library kontor::<name>, its headers, and the package Kontor.
function(kontor_install name)
  if(NOT KONTOR_INSTALL)
    return()
  endif()
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Kontor)
  install(TARGETS kontor_${name} EXPORT KontorTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT kontor_${name}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  )
  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT kontor_${name})
  install(EXPORT KontorTargets NAMESPACE kontor:: DESTINATION ${package} COMPONENT kontor_${name})

  get_property(kontor_mpi_compiler CACHE MPI_CXX_COMPILER PROPERTY VALUE)
  get_target_property(kontor_packages kontor_${name} KONTOR_BACKEND_PACKAGES)
  if(NOT kontor_packages)
    set(kontor_packages "")
  endif()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/KontorConfig.cmake.in
    ${PROJECT_BINARY_DIR}/KontorConfig.cmake INSTALL_DESTINATION ${package}
  )
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/KontorConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/KontorConfig.cmake ${PROJECT_BINARY_DIR}/KontorConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/KontorKokkos.cmake ${PROJECT_SOURCE_DIR}/cmake/FindNCCL.cmake
    DESTINATION ${package} COMPONENT kontor_${name}
  )
endfunction()

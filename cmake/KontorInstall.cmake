# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs libraries for other people's codes, as the component kontor: find_package(Kontor) gives kontor::<name>. Installs the
# mini-apps and the command `kontor`, as the component command.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

option(KONTOR_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
set(KONTOR_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Kontor)

# An installation begins when all of its files are built: its components are properties of this target, with their files.
if(KONTOR_INSTALL)
  add_custom_target(kontor_installed)
  foreach(component IN ITEMS kontor command)
    install(CODE "
      set(files \"$<TARGET_GENEX_EVAL:kontor_installed,$<TARGET_PROPERTY:kontor_installed,KONTOR_${component}>>\")
      foreach(file IN LISTS files)
        if(NOT EXISTS \"\${file}\")
          message(FATAL_ERROR \"\${file} is not built; build all first: cmake --build '${CMAKE_BINARY_DIR}'\")
        endif()
      endforeach()" COMPONENT ${component}
    )
  endforeach()
endif()

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
  get_target_property(type kontor_${name} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    set_property(TARGET kontor_installed APPEND PROPERTY KONTOR_kontor $<TARGET_FILE:kontor_${name}>)
  endif()
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
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/licenses/kontor COMPONENT kontor)
  install(FILES ${PROJECT_BINARY_DIR}/KontorConfig.cmake ${PROJECT_BINARY_DIR}/KontorConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/KontorKokkos.cmake ${PROJECT_SOURCE_DIR}/cmake/FindNCCL.cmake
    DESTINATION ${KONTOR_PACKAGE_DIR} COMPONENT kontor
  )
endfunction()

# kontor_install_command(): the command, the mini-apps that it starts, their decks and pages. python/kontor/place.py finds
# them. Mini-apps are in libexec/kontor: others have programs of such names on PATH.
function(kontor_install_command)
  if(NOT KONTOR_INSTALL)
    return()
  endif()
  get_property(apps GLOBAL PROPERTY KONTOR_APPS)
  set(programs ${apps} kontor_deck kontor_record)
  set_target_properties(${programs} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON) # of Kokkos, MPI and HDF5 outside of /usr/lib
  list(TRANSFORM programs REPLACE ".+" "$<TARGET_FILE:\\0>" OUTPUT_VARIABLE files)
  set_property(TARGET kontor_installed PROPERTY KONTOR_command ${files})
  install(TARGETS ${apps} RUNTIME DESTINATION libexec/kontor COMPONENT command)
  install(TARGETS kontor_deck kontor_record RUNTIME DESTINATION bin COMPONENT command)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/kontor DESTINATION bin COMPONENT command)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/kontor DESTINATION share/kontor/python COMPONENT command
    PATTERN __pycache__ EXCLUDE PATTERN .mypy_cache EXCLUDE
  )
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/inputs DESTINATION share/kontor COMPONENT command)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/kontor COMPONENT command
    FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN dev EXCLUDE
  )
  # What else the command reads from the cache of a build folder.
  file(WRITE ${PROJECT_BINARY_DIR}/installed.txt
    "MPIEXEC_EXECUTABLE:FILEPATH=${MPIEXEC_EXECUTABLE}\n"
    "KONTOR_MPI_IS_MPICH:INTERNAL=${KONTOR_MPI_IS_MPICH}\n"
    "KONTOR_APPS:INTERNAL=${apps}\n"
    "KONTOR_REQUIRE_CUDA:BOOL=${KONTOR_REQUIRE_CUDA}\n"
  )
  install(FILES ${PROJECT_BINARY_DIR}/installed.txt ${PROJECT_BINARY_DIR}/revision.txt ${PROJECT_SOURCE_DIR}/VERSION
    DESTINATION share/kontor COMPONENT command
  )
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/licenses/kontor COMPONENT command)
  if(KONTOR_TEST_PYTHON)
    set(page ${PROJECT_SOURCE_DIR}/python/kontor/cli.md)
    set(manual ${PROJECT_SOURCE_DIR}/scripts/manual.py)
    set(made ${PROJECT_BINARY_DIR}/manual)
    add_custom_command(OUTPUT ${made}/kontor.1 ${made}/kontor
      COMMAND ${KONTOR_TEST_PYTHON} ${manual} ${page} ${made} DEPENDS ${manual} ${page} VERBATIM
    )
    add_custom_target(kontor_manual ALL DEPENDS ${made}/kontor.1 ${made}/kontor)
    install(FILES ${made}/kontor.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
    install(FILES ${made}/kontor DESTINATION share/bash-completion/completions COMPONENT command)
    set_property(TARGET kontor_installed APPEND PROPERTY KONTOR_command ${made}/kontor.1)
  endif()
endfunction()

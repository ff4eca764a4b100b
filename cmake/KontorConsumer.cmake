# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests of other people's projects that use Kontor.

set(KONTOR_TEST_CONSUMERS OFF)
if(KONTOR_INSTALL AND KONTOR_ALL_TESTS AND NOT KONTOR_SANITIZE)
  set(KONTOR_TEST_CONSUMERS ON)
  set(KONTOR_TEST_PREFIX ${PROJECT_BINARY_DIR}/installed)
  add_test(NAME install
    COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --component kontor --prefix ${KONTOR_TEST_PREFIX}
      --config $<CONFIG>
  )
  set_tests_properties(install PROPERTIES TIMEOUT 60 LABELS comm FIXTURES_SETUP installed)
endif()

# kontor_consumer(<name> SOURCE <folder> BINARY <folder> [OPTIONS ...] [LABELS ...])
# The test <name>/build makes the project in SOURCE with these CMake options; tests that need its programs
# require the fixture <name>.
function(kontor_consumer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;BINARY" "OPTIONS;LABELS")
  add_test(NAME ${name}/build
    COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${arg_SOURCE} ${arg_BINARY}
      --build-generator ${CMAKE_GENERATOR} --build-options -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
      -DKokkos_DIR=${Kokkos_DIR} -DCMAKE_CXX_FLAGS=-O0 ${arg_OPTIONS}
  )
  set_tests_properties(${name}/build PROPERTIES
    TIMEOUT 300 LABELS "${arg_LABELS}" FIXTURES_SETUP ${name} FIXTURES_REQUIRED installed
  )
endfunction()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A mini-app: a library of its parts (for its tests), its program bin/<name>, and a test of each of its decks.

# kontor_miniapp(<name> SOURCES ... [LINK ...])
# SOURCES are those beside main.cpp. Each deck inputs/<name>/*.yaml is run on 1, 2 and 3 ranks, with the
# options of its line "# test: ..." if it has one (heavy decks give a smaller size there).
function(kontor_miniapp name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(kontor_${name} STATIC ${arg_SOURCES})
  target_link_libraries(kontor_${name} PUBLIC kontor_miniapp ${arg_LINK} kontor_flags)
  add_executable(${name} main.cpp)
  target_link_libraries(${name} PRIVATE kontor_${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(KONTOR_TESTS)
    kontor_test_decks(${name})
  endif()
endfunction()

function(kontor_test_decks name)
  file(GLOB decks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/inputs/${name}/*.yaml)
  foreach(deck IN LISTS decks)
    get_filename_component(stem ${deck} NAME_WE)
    file(STRINGS ${deck} line REGEX "^# test: " LIMIT_COUNT 1)
    string(REGEX REPLACE "^# test: " "" options "${line}")
    separate_arguments(options UNIX_COMMAND "${options}")
    foreach(ranks 1 2 3)
      kontor_add_mpi_run(deck/${name}/${stem}/${ranks} RANKS ${ranks} TIMEOUT 120 LABELS deck
        COMMAND $<TARGET_FILE:${name}> ${deck} --quiet -o ${CMAKE_CURRENT_BINARY_DIR}/${stem}-${ranks}.h5 ${options}
      )
    endforeach()
  endforeach()
endfunction()

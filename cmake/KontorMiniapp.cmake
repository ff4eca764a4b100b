# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A mini-app: a library of its parts (for its tests), its program bin/<name>, and a test of each of its decks.

# kontor_miniapp(<name> [SOURCES ...] [LINK ...])
# SOURCES are all of the app's folder and its folders, unless named: main.cpp among them has app_main(). Each deck inputs/<name>/*.yaml is run on 1, 2 and 3 ranks, or as many as
# its line "# ranks: ..." lists, with the options of its line "# test: ..." (heavy decks give a smaller size);
# where Kokkos has threads, on one rank of two (1x2) as well.
function(kontor_miniapp name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp */*.cpp)
    list(FILTER arg_SOURCES EXCLUDE REGEX "^tests/")
  endif()
  add_library(kontor_${name} STATIC ${arg_SOURCES})
  target_link_libraries(kontor_${name} PUBLIC kontor_miniapp ${arg_LINK} kontor_flags)
  kontor_precompile(kontor_${name} native)
  kontor_unity(kontor_${name})
  add_executable(${name} ${PROJECT_SOURCE_DIR}/miniapps/main.cpp)
  target_link_libraries(${name} PRIVATE kontor_${name})
  kontor_simulated_program(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set_property(GLOBAL APPEND PROPERTY KONTOR_APPS ${name})
  add_dependencies(${name} kontor_deck kontor_record) # by them `kontor run` reads decks and records
  if(KONTOR_TESTS)
    kontor_test_decks(${name})
  endif()
endfunction()

# The words of a deck's line "# <key>: ...", or those of `default`.
function(kontor_deck_line deck key result default)
  file(STRINGS ${deck} line REGEX "^# ${key}: " LIMIT_COUNT 1)
  if(NOT line)
    set(line "# ${key}: ${default}")
  endif()
  string(REGEX REPLACE "^# ${key}: " "" words "${line}")
  separate_arguments(words UNIX_COMMAND "${words}")
  set(${result} ${words} PARENT_SCOPE)
endfunction()

# Each deck on one of its numbers of ranks, in turns; with KONTOR_ALL_TESTS on all of them.
function(kontor_test_decks name)
  set(turn 0)
  file(GLOB decks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/inputs/${name}/*.yaml)
  foreach(deck IN LISTS decks)
    get_filename_component(stem ${deck} NAME_WE)
    kontor_deck_line(${deck} test options "")
    kontor_deck_line(${deck} ranks rank_counts "1 2 3")
    if(NOT KONTOR_ALL_TESTS)
      list(LENGTH rank_counts count)
      math(EXPR place "${turn} % ${count}")
      math(EXPR turn "${turn} + 1")
      list(GET rank_counts ${place} rank_counts)
    endif()
    if(KONTOR_KOKKOS_THREADS AND 1 IN_LIST rank_counts)
      list(APPEND rank_counts 1x2)
    endif()
    foreach(ranks IN LISTS rank_counts)
      string(REPLACE "x" ";THREADS;" ranks_and_threads ${ranks})
      kontor_add_mpi_run(deck/${name}/${stem}/${ranks} RANKS ${ranks_and_threads} TIMEOUT 120 LABELS deck
        COMMAND $<TARGET_FILE:${name}> ${deck} --quiet -o ${CMAKE_CURRENT_BINARY_DIR}/${stem}-${ranks}.h5 ${options}
      )
    endforeach()
  endforeach()
endfunction()

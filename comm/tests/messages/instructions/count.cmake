# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DVALGRIND=... -DANNOTATE=... -DPROGRAM=... -P count.cmake
# How many instructions a typed send takes more than a plain one. Instructions are no times: they do not
# depend on what else the machine does, so they may be tested.
set(times 1000)
set(limit 100)
if(NOT VALGRIND OR NOT ANNOTATE)
  message("SKIPPED: valgrind is not installed")
  return()
endif()
set(profile ${PROGRAM}.callgrind)
execute_process(
  COMMAND ${VALGRIND} --tool=callgrind --callgrind-out-file=${profile} ${PROGRAM} ${times}
  RESULT_VARIABLE failed ERROR_VARIABLE errors OUTPUT_QUIET
)
if(failed)
  message(FATAL_ERROR "${PROGRAM} failed under valgrind:\n${errors}")
endif()
execute_process(COMMAND ${ANNOTATE} --inclusive=yes --threshold=100 ${profile} OUTPUT_VARIABLE report)

function(instructions_of function result)
  if(NOT report MATCHES "([0-9,]+) [^\n]*:${function}[ \n[]")
    message(FATAL_ERROR "${function} is not in the profile")
  endif()
  string(REPLACE "," "" count ${CMAKE_MATCH_1})
  math(EXPR count "${count} / ${times}")
  set(${result} ${count} PARENT_SCOPE)
endfunction()

instructions_of(plain_sends plain)
foreach(rank IN ITEMS 1 3)
  instructions_of(typed_sends_${rank} typed)
  math(EXPR more "${typed} - ${plain}")
  message("rank ${rank}: plain ${plain}, typed ${typed}: ${more} instructions more a send")
  if(more GREATER_EQUAL limit)
    message(FATAL_ERROR "a typed send may take less than ${limit} instructions more")
  endif()
endforeach()

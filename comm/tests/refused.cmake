# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DBUILD=... -DTARGET=... -DCONFIG=... -DTEXT=<regular expression> -P refused.cmake
#
# The target does not compile, the compiler's first error has the text, and there is little around it.
set(most_lines 60)

execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target ${TARGET} --config ${CONFIG}
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output
)
message("${output}")
if(code EQUAL 0)
  message(FATAL_ERROR "it compiles")
endif()
string(REGEX MATCH "[^\n]*error: [^\n]*" first "${output}")
if(NOT first MATCHES "${TEXT}")
  message(FATAL_ERROR "the first error is not '${TEXT}' but: ${first}")
endif()
string(REGEX REPLACE "[^\n]" "" newlines "${output}")
string(LENGTH "${newlines}" lines)
if(lines GREATER most_lines)
  message(FATAL_ERROR "${lines} lines, more than ${most_lines}")
endif()
message("refused in ${lines} lines")

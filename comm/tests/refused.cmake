# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DLOG=<file> -DTEXT=<regular expression> -P refused.cmake
#
# What the compiler has said of a target: that it does not compile, first of all the text, and little around it.
set(most_lines 60)

if(NOT EXISTS ${LOG})
  message(FATAL_ERROR "it was not compiled")
endif()
file(READ ${LOG} output)
message("${output}")
if(NOT output MATCHES "error: ")
  message(FATAL_ERROR "no error")
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

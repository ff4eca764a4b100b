# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DCOMMAND=<program>;<argument>... -DTEXT=<regular expression> -P fails.cmake
# The command fails, and says why.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(code EQUAL 0)
  message(FATAL_ERROR "it has not failed")
endif()
if(NOT output MATCHES "${TEXT}")
  message(FATAL_ERROR "it does not say '${TEXT}'")
endif()

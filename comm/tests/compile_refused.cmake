# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DBUILD=... -DGENERATOR=... -DTARGETS=<target>;... -DCONFIG=... -DLOGS=<folder> -P compile_refused.cmake
#
# Tries to compile targets that do not compile, and leaves what the compiler says in the folder.
file(REMOVE_RECURSE ${LOGS})
file(MAKE_DIRECTORY ${LOGS})
set(keep_going -k)
if(GENERATOR MATCHES "Ninja")
  set(keep_going -k 0)
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --config ${CONFIG} --target ${TARGETS} -- ${keep_going}
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output
)
file(GLOB logs ${LOGS}/*.txt)
if(NOT logs)
  message(FATAL_ERROR "nothing was compiled:\n${output}")
endif()

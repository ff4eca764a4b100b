# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DLAUNCHER=<mpiexec -n 3 ...> -DPROGRAMS=<program>;<program> -P same_output.cmake
# Programs must succeed, say that their result is right, and print the same.
foreach(program IN LISTS PROGRAMS)
  execute_process(COMMAND ${LAUNCHER} ${program}
    OUTPUT_VARIABLE output ERROR_VARIABLE complaint RESULT_VARIABLE code
  )
  if(NOT code EQUAL 0 OR NOT output MATCHES ", right\n$")
    message(FATAL_ERROR "${program} ends with ${code}:\n${output}${complaint}")
  endif()
  if(DEFINED expected AND NOT output STREQUAL expected)
    message(FATAL_ERROR "${program} prints\n${output}instead of\n${expected}")
  endif()
  set(expected "${output}")
endforeach()

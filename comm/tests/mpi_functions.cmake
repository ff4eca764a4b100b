# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes mpi_functions.inc: FUNCTION(name, parameters, arguments) for MPI functions, as mpi.h declares them: not those
# that are deprecated, take any number of arguments, or have an error as argument. Who stands between them and their
# callers defines FUNCTION before it is included. The first communicator and window are `c` and `w`.
set(with_other_bodies Irecv Isend Test Waitall Comm_dup Comm_get_attr) # of whoever defines OTHER_BODIES

file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/mpi_functions.c "#include <mpi.h>\n")
list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE include_options)
execute_process(COMMAND ${CMAKE_C_COMPILER} -E -P ${include_options} ${CMAKE_CURRENT_BINARY_DIR}/mpi_functions.c
  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY
)
string(REGEX REPLACE "[ \n\t]+" " " text "${text}")
set(name "MPI_([A-SU-Z]|T[a-z])[A-Za-z_0-9]+") # without those of the tools interface
string(REGEX MATCHALL "int ${name} ?\\([^;]*;" declarations "${text}")
set(functions "")
foreach(declaration IN LISTS declarations)
  if(declaration MATCHES "deprecated|error|\\.\\.\\." OR
      NOT declaration MATCHES "MPI_([A-Za-z_0-9]+) ?\\(([^()]*)\\)")
    continue()
  endif()
  set(name ${CMAKE_MATCH_1})
  string(REGEX REPLACE " ?, ?" ";" declared "${CMAKE_MATCH_2}")
  set(parameters "")
  set(arguments "")
  foreach(parameter IN LISTS declared)
    if(parameter MATCHES "^(.*[ *])[A-Za-z_0-9]+ ?((\\[[0-9]*\\])*)$") # else it is void
      list(LENGTH arguments number)
      set(argument a${number})
      if(CMAKE_MATCH_1 STREQUAL "MPI_Comm " AND NOT c IN_LIST arguments)
        set(argument c)
      elseif(CMAKE_MATCH_1 STREQUAL "MPI_Win " AND NOT w IN_LIST arguments)
        set(argument w)
      endif()
      string(APPEND parameters ", ${CMAKE_MATCH_1}${argument}${CMAKE_MATCH_2}")
      list(APPEND arguments ${argument})
    endif()
  endforeach()
  string(REGEX REPLACE "^, " "" parameters "${parameters}")
  list(JOIN arguments ", " arguments)
  set(function "FUNCTION(${name}, (${parameters}), (${arguments}))")
  if(name IN_LIST with_other_bodies)
    set(function "#ifndef OTHER_BODIES\n${function}\n#endif")
  endif()
  string(APPEND functions "${function}\n")
endforeach()
file(CONFIGURE OUTPUT mpi_functions.inc CONTENT "${functions}" @ONLY)

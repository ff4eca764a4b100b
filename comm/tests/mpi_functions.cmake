# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes mpi_functions.inc: FUNCTION(name, parameters, arguments) for MPI functions, as mpi.h declares them. Who stands
# between them and their callers defines FUNCTION before it is included. Communicators and windows are `c` and `w`.
set(names
  Send Ssend Bsend Rsend Isend Issend Ibsend Irsend Send_init Ssend_init Bsend_init Rsend_init Recv_init Recv Sendrecv
  Sendrecv_replace Probe Iprobe Mprobe Get_elements_x Get_count Start Startall Wait Waitany Test Testall Testany
  Testsome Waitsome Cancel Request_free Request_get_status Type_contiguous Type_vector Type_create_hvector Type_indexed
  Type_create_hindexed Type_create_hindexed_block Type_create_struct Type_create_subarray Type_create_resized Type_dup
  Type_commit Type_free Type_size Type_get_extent Pack Unpack Barrier Bcast Reduce Allreduce Scan Exscan
  Reduce_scatter Ireduce_scatter Reduce_scatter_block Ireduce_scatter_block Gather Scatter Allgather Alltoall
  Neighbor_alltoall Allgatherv Iallgatherv Alltoallv Ialltoallv Alltoallw Ibarrier Ibcast Iallreduce Op_free Op_create
  Ialltoall Iallgather Iscatter Igather Iexscan Iscan Ireduce Scatterv Iscatterv Gatherv Igatherv Ineighbor_alltoallw
  Put Win_post Win_start Win_complete Win_wait Win_fence Win_sync Win_flush Comm_rank Comm_size Comm_free Cart_coords
  Cart_shift Cart_rank Initialized Finalized Init_thread Finalize Query_thread Get_processor_name Get_library_version
  Get_address Comm_split Comm_split_type Comm_group Comm_set_errhandler Group_incl Group_free Cart_create Cart_get
  Cart_sub Cartdim_get Dims_create Dist_graph_create_adjacent Win_allocate Win_allocate_shared Win_shared_query
  Win_set_errhandler Win_lock_all Win_unlock_all Win_test Win_free File_open File_write_at File_close
)
set(with_other_bodies Irecv Waitall Comm_dup Comm_get_attr) # of whoever defines OTHER_BODIES

file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/mpi_functions.c "#include <mpi.h>\n")
list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE include_options)
execute_process(COMMAND ${CMAKE_C_COMPILER} -E ${include_options} ${CMAKE_CURRENT_BINARY_DIR}/mpi_functions.c
  OUTPUT_VARIABLE declarations COMMAND_ERROR_IS_FATAL ANY
)
set(functions "")
foreach(name IN LISTS names with_other_bodies)
  if(NOT declarations MATCHES "[ \n]int[ \n]+MPI_${name}[ \n]*\\(([^()]*)\\)")
    message(FATAL_ERROR "mpi.h declares no function MPI_${name}")
  endif()
  string(REGEX REPLACE "[ \n]*,[ \n]*" ";" declared "${CMAKE_MATCH_1}")
  set(parameters "")
  set(arguments "")
  foreach(parameter IN LISTS declared)
    if(parameter MATCHES "^(.*[ *])[A-Za-z_0-9]+((\\[[0-9]*\\])*)$") # else it is void
      list(LENGTH arguments number)
      set(argument a${number})
      if(CMAKE_MATCH_1 STREQUAL "MPI_Comm ")
        set(argument c)
      elseif(CMAKE_MATCH_1 STREQUAL "MPI_Win ")
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

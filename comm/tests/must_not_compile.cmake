# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What must not compile, and in which words.
#
# One build tries all of them, because to start one takes longer than to compile; what the compiler says of each
# is in a file of its own.
function(kontor_compile_refused name code)
  file(CONFIGURE OUTPUT refused/${name}.cpp CONTENT "${template}" @ONLY)
  add_library(comm_refused_${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/refused/${name}.cpp)
  target_link_libraries(comm_refused_${name} PRIVATE kontor::comm)
  kontor_test_compilation(comm_refused_${name} OFF)
endfunction()
function(kontor_refused name text code)
  set(log ${CMAKE_CURRENT_BINARY_DIR}/refused_logs/${name}.txt)
  kontor_compile_refused(${name} "${code}")
  set_target_properties(comm_refused_${name} PROPERTIES
    EXCLUDE_FROM_ALL ON CXX_COMPILER_LAUNCHER "sh;${CMAKE_CURRENT_SOURCE_DIR}/keep_errors.sh;${log}"
  )
  set_property(GLOBAL APPEND PROPERTY KONTOR_REFUSED comm_refused_${name})
  add_test(NAME comm_compile/${name}
    COMMAND ${CMAKE_COMMAND} -DLOG=${log} -DTEXT=${text} -P ${CMAKE_CURRENT_SOURCE_DIR}/refused.cmake
  )
  set_tests_properties(comm_compile/${name} PROPERTIES TIMEOUT 60 LABELS comm FIXTURES_REQUIRED comm_compile)
endfunction()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS refused.cpp.in)
file(READ refused.cpp.in template)
kontor_compile_refused(nothing "")

set(text "kontor::comm: a const View cannot receive")
kontor_refused(const_receiver ${text} [[exchange.add(view, 0, ConstDoubles(view), 0)]])
kontor_refused(const_result ${text} [[bcast(comm, ConstDoubles(view), 0)]])
kontor_refused(const_recv ${text} [[recv(comm, ConstDoubles(view), 0)]])

set(text "kontor::comm: what is sent and what receives must each be a Kokkos::View")
kontor_refused(pointer ${text} [[exchange.add(view.data(), 0, view, 0)]])
kontor_refused(sent_vector ${text} [[send(comm, std::vector<double>(), 0)]])

set(text "kontor::comm: the elements of a View that travels between ranks must be trivially copyable")
kontor_refused(strings ${text} [[Exchange<Strings> strings(comm, "strings")]])

set(text "kontor::comm: a collective operation takes a Kokkos::View, or a value that is trivially copyable and not a pointer")
kontor_refused(pointer_value ${text} [[allreduce(comm, view.data(), ReduceOp::sum)]])
kontor_refused(broadcast_vector ${text} [[bcast(comm, std::vector<double>(), 0)]])

set(text "kontor::comm: the functor of a reduction must have no state: no captures, no members, and it cannot be a pointer to a function")
kontor_refused(state ${text} [[allreduce(comm, view, [=](double a, double b) { return weight * (a + b); })]])
kontor_refused(function ${text} [[allreduce(comm, view, function)]])
set(text "kontor::comm: the functor of a reduction must take two elements, as .const T&, const T&., and return one")
kontor_refused(signature ${text} [[allreduce(comm, view, [](double a) { return a; })]])
set(text "kontor::comm: a reduction takes a kontor::comm::ReduceOp, such as ReduceOp::sum for MPI_SUM, or a functor, not an MPI_Op")
kontor_refused(mpi_op ${text} [[allreduce(comm, view, MPI_SUM)]])

set(text "kontor::comm: the Views of a collective operation must have the same scalar type")
kontor_refused(mixed_gather ${text} [[gather(comm, Floats("floats", 1), view, 0)]])
set(text "kontor::comm: both Views of a slot must have the same scalar type")
kontor_refused(slot_scalars ${text} [[exchange.add(view, 0, Floats("floats", 1), 0)]])
set(text "kontor::comm: both Views of a sendrecv must have the same scalar type")
kontor_refused(exchanged_scalars ${text} [[sendrecv(comm, Floats("floats", 1), 0, view, 0)]])
set(text "kontor::comm: rows are chosen by a Kokkos::View of rank 1 of 32- or 64-bit integers")
kontor_refused(rows ${text} [[exchange.add_send(view, Floats("floats", 1), 0)]])
set(text "kontor::comm: rows are chosen of Views of rank 1 or 2")
kontor_refused(rows_of_a_box ${text} [[exchange.add_receive(Boxes("box", 2, 2, 2), std::pair(0, 1), 0)]])
kontor_refused(discarded "kontor::comm: a Request that is dropped is never waited for" [[isend(comm, view, 0)]])
target_compile_options(comm_refused_discarded PRIVATE -Werror=unused-result) # a warning alone is given once
kontor_refused(copy "use of deleted function" [[auto copy = exchange]])

set(text "kontor::sums: exact sums are of functions whose value is a double or float")
set(sums [[Space instance; ExactSums<Space> sums(comm, "sums", 2); sums.add(instance, 0, 3, [](Index) { return 1.0f; });]])
kontor_compile_refused(no_sums "${sums}")
kontor_refused(sum_of_bool ${text} "${sums} sums.add(instance, 0, 3, [](Index i) { return i > 1; })")
kontor_refused(sums_of_int ${text} "${sums} sums.add<2>(instance, 0, 3, [](Index) { return Two{{1, 2}}; })")
foreach(flag fast-math finite-math-only)
  kontor_refused(${flag} "kontor::sums: exact sums need arithmetic as it is written" "")
  target_compile_options(comm_refused_${flag} PRIVATE -f${flag})
  set_target_properties(comm_refused_${flag} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON) # made without
endforeach()

get_property(refused GLOBAL PROPERTY KONTOR_REFUSED)
add_test(NAME comm_compile
  COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DGENERATOR=${CMAKE_GENERATOR} "-DTARGETS=${refused}"
    -DCONFIG=$<CONFIG> -DLOGS=${CMAKE_CURRENT_BINARY_DIR}/refused_logs -P ${CMAKE_CURRENT_SOURCE_DIR}/compile_refused.cmake
)
set_tests_properties(comm_compile PROPERTIES
  TIMEOUT 300 LABELS comm FIXTURES_SETUP comm_compile RESOURCE_LOCK build PROCESSORS 2
)

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <string>

/// Counts the calls of MPI functions on this rank, through MPI's profiling interface.
namespace kontor::comm::test {

using MpiCalls = std::map<std::string, int>;

void start_counting_mpi();
/// How often each function has been called since; those never called are left out.
MpiCalls stop_counting_mpi();

} // namespace kontor::comm::test

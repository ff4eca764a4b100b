// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cost.hpp"

#include <mpi.h>

namespace {

bool counting_mpi = false;
kontor::comm::test::MpiCalls counted;

} // namespace

namespace kontor::comm::test {

void start_counting_mpi() {
  counted.clear();
  counting_mpi = true;
}

MpiCalls stop_counting_mpi() {
  counting_mpi = false;
  return std::move(counted);
}

} // namespace kontor::comm::test

// Each line stands for one MPI function: it is counted and passed on.
#define FUNCTION(name, parameters, arguments)                                                                          \
  int MPI_##name parameters {                                                                                          \
    const kontor::comm::test::NotCounted inside_mpi;                                                                   \
    if (counting_mpi) ++counted["MPI_" #name];                                                                         \
    return PMPI_##name arguments;                                                                                      \
  }

extern "C" {
#include "mpi_functions.inc"
}

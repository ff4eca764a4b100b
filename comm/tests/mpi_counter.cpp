// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cost.hpp"

#include <mpi.h>

namespace {

struct Function {
  const char* name = nullptr;
  int calls = 0;
};

bool counting_mpi = false;
std::array<Function, 1024> functions;
std::size_t function_count = 0;

Function& function(const char* name) {
  functions[function_count] = {name, 0};
  return functions[function_count++];
}

} // namespace

namespace kontor::comm::test {

void start_counting_mpi() {
  for (auto& f : functions) f.calls = 0;
  counting_mpi = true;
}

MpiCalls stop_counting_mpi() {
  counting_mpi = false;
  MpiCalls calls;
  for (const auto& f : functions)
    if (f.calls > 0) calls[f.name] = f.calls;
  return calls;
}

} // namespace kontor::comm::test

// Each line stands for one MPI function: it is counted and passed on.
#define FUNCTION(name, parameters, arguments)                                                                          \
  int MPI_##name parameters {                                                                                          \
    static Function& counted = function("MPI_" #name);                                                                 \
    if (counting_mpi) ++counted.calls;                                                                                 \
    const kontor::comm::test::NotCounted inside_mpi;                                                                   \
    return PMPI_##name arguments;                                                                                      \
  }

extern "C" {
#include "mpi_functions.inc"
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend.hpp>
#include <kontor/comm/options.hpp>

#include <mpi.h>

namespace kontor::comm {

struct MpiHandle {
  MPI_Comm comm = MPI_COMM_NULL;
  Options options;
};

} // namespace kontor::comm

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend.hpp>
#include <kontor/comm/options.hpp>

#include <mpi.h>

#include <memory>

namespace kontor::comm {

struct MpiHandle {
  MPI_Comm comm = MPI_COMM_NULL;
  Options options;
  /// Set by a plan that may have left messages which nobody will receive. The communicator is then never
  /// freed: MPI could give its context to the next one (MPICH does), and that would receive them.
  std::shared_ptr<bool> littered = std::make_shared<bool>(false);
};

} // namespace kontor::comm

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/options.hpp>

#include <mpi.h>

namespace kontor::comm {

struct BackendContext {
  MPI_Comm comm = MPI_COMM_NULL;
  Options options;
  /// Set by a plan that may have left messages which nobody will receive, and after a timeout. The communicator and the
  /// windows of its plans are then never freed: other ranks may be gone, for whom that would wait, and MPI could give
  /// the context to the next communicator (MPICH does), which would receive them.
  std::shared_ptr<bool> unsafe_to_free = std::make_shared<bool>(false);
};

namespace mpi {

/// Whether this rank ends alone, and so leaves to MPI what all ranks would free together: an exception is passing or
/// messages were left behind, and the other ranks may be gone; or MPI has ended.
inline bool ends_alone(bool unsafe_to_free) { return unsafe_to_free || std::uncaught_exceptions() > 0 || finalized(); }

} // namespace mpi
} // namespace kontor::comm

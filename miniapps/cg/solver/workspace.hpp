// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/names.hpp"
#include "cg/options.hpp"
#include "partition/partition.hpp"
#include "run/record/timers.hpp"
#include "stepping/device.hpp"
#include "stepping/streams.hpp"

#include <kontor/comm/communicator.hpp>

namespace kontor::cg {

/// What a method works with; outlives it.
struct Workspace {
  const comm::Communicator& comm;
  const Partition& partition;
  const CompressedRows& rows; ///< of which preconditioners are made
  const Matrix& matrix;
  const Vector& rhs;
  const Vector& initial;
  const SolverOptions& options;
  bool overlap = true;
  stepping::Streams<Space>& streams;
  miniapp::Timers& timers;
  bool as_on_device = stepping::on_device; ///< iterations are queued; tests do it on a CPU too
};

} // namespace kontor::cg

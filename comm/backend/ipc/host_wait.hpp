// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/gpu_runtime.hpp"
#include "backend/ipc/kernels.hpp"
#include "base/deadline.hpp"

#include <mpi.h>

/// What the host does while kernels wait for other ranks.
namespace kontor::comm::ipc {

/// Local. Waits until the stream has done its work, unless it is being captured. MPI messages of this rank must not
/// stand still meanwhile: a peer may need them to come to what the stream waits for.
inline cudaError_t wait_for_stream(MPI_Comm comm, cudaStream_t stream) {
  auto code = cudaSuccess;
  if (is_captured(stream)) return code;
  constexpr double any_time = 0; // the kernels' own timeout ends it
  mpi::Deadline(any_time).wait([&] {
    mpi::make_progress(comm);
    code = query(stream);
    return code != cudaErrorNotReady;
  });
  return code;
}

/// Local. Kernels that wait for other ranks end, and `query_work` says when they have: for a second at most. Returns
/// its last answer.
template <class Query>
cudaError_t end_waiting(PeerSignals& signals, const Query& query_work) {
  std::atomic_ref(signals.aborted).store(1);
  constexpr double long_enough = 1; // s
  auto code = cudaErrorNotReady;
  mpi::Deadline(long_enough).wait([&] { return (code = query_work()) != cudaErrorNotReady; });
  return code;
}

} // namespace kontor::comm::ipc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/ipc/host_wait.hpp"

namespace kontor::comm::ipc {

cudaError_t wait_for_stream(MPI_Comm comm, cudaStream_t stream) {
  auto status = cudaStreamCaptureStatusNone;
  auto code = cudaStreamIsCapturing(stream, &status);
  if (code != cudaSuccess || status != cudaStreamCaptureStatusNone) return code;
  constexpr double any_time = 0; // the kernels' own timeout ends it
  mpi::Deadline(any_time).wait([&] {
    mpi::make_progress(comm);
    code = query(stream);
    return code != cudaErrorNotReady;
  });
  return code;
}

} // namespace kontor::comm::ipc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/ipc/host_wait.hpp"

namespace kontor::comm::ipc {

cudaError_t wait_for_stream(MPI_Comm comm, cudaStream_t stream) {
  auto status = cudaStreamCaptureStatusNone;
  auto code = cudaStreamIsCapturing(stream, &status);
  if (code != cudaSuccess || status != cudaStreamCaptureStatusNone) return code;
  constexpr double any_time = 0; // the kernels' own timeout ends it
  mpi::Deadline(any_time).wait([&] {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
    code = asked(cudaStreamQuery(stream));
    return code != cudaErrorNotReady;
  });
  return code;
}

} // namespace kontor::comm::ipc

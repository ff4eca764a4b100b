// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi_backend.hpp"

#include "datatype.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

namespace kontor::comm::mpi {

void MpiBackend::allreduce(const Buffer& buffer, ReduceOp op) {
  const auto mpi_op = reduction(op, buffer.scalar);
  const auto [type, count] = contiguous(buffer);
  const int code = MPI_Allreduce(MPI_IN_PLACE, buffer.data, count, type, mpi_op, handle_.comm);
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, "MPI_Allreduce");
}

void MpiBackend::bcast(const Buffer& buffer, int root) {
  const auto [type, count] = contiguous(buffer);
  const int code = MPI_Bcast(buffer.data, count, type, root, handle_.comm);
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, fmt::format("MPI_Bcast from rank {}", root));
}

void MpiBackend::barrier() {
  check(MPI_Barrier(handle_.comm), "MPI_Barrier");
}

} // namespace kontor::comm::mpi

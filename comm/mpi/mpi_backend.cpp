// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi_backend.hpp"

#include "pattern.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/mpi_datatype.hpp>

#include <fmt/format.h>

namespace kontor::comm::mpi {

MpiBackend::MpiBackend(const MpiHandle& handle) : handle_(handle) {
  if (handle.options.pattern == Pattern::rma && handle.options.packing == Packing::datatype)
    throw UsageError("pattern 'rma' puts messages into windows in one piece, so packing 'datatype' is not "
                     "possible; choose packing 'kernel' or 'auto', or another pattern");
}

OwnMemory MpiBackend::own_memory(int /*peer*/) const {
  return {.receives = handle_.options.pattern == Pattern::rma};
}

std::unique_ptr<Plan> MpiBackend::plan(Schedule& schedule) {
  return make_plan(handle_, schedule);
}

void MpiBackend::allreduce(const Buffer& buffer, ReduceOp op) {
  const auto mpi_op = reduction(op, buffer.scalar);
  const auto data = payload(element_count(buffer.shape), buffer.scalar);
  const int code = MPI_Allreduce(MPI_IN_PLACE, buffer.data, data.count, data.type, mpi_op, handle_.comm);
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, "MPI_Allreduce");
}

void MpiBackend::bcast(const Buffer& buffer, int root) {
  const auto data = payload(element_count(buffer.shape), buffer.scalar);
  const int code = MPI_Bcast(buffer.data, data.count, data.type, root, handle_.comm);
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, fmt::format("MPI_Bcast from rank {}", root));
}

void MpiBackend::barrier() {
  check(MPI_Barrier(handle_.comm), "MPI_Barrier");
}

} // namespace kontor::comm::mpi

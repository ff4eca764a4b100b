// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi_backend.hpp"

#include "pattern.hpp"

#include <kontor/comm/backend/mpi_check.hpp>
#include <kontor/comm/backend/mpi_datatype.hpp>
#include <kontor/comm/error.hpp>

#include <fmt/format.h>

#include <cstddef>

namespace kontor::comm::mpi {

MpiBackend::MpiBackend(const BackendContext& context) : context_(context) {
  if (context.options.pattern == Pattern::rma && context.options.packing == Packing::datatype)
    throw UsageError("pattern 'rma' puts messages into windows in one piece, so packing 'datatype' is not "
                     "possible; choose packing 'kernel' or 'auto', or another pattern");
}

OwnMemory MpiBackend::own_memory(int /*peer*/) const {
  return {.receives = context_.options.pattern == Pattern::rma};
}

std::unique_ptr<Plan> MpiBackend::plan(Schedule& schedule) {
  return make_plan(context_, schedule);
}

void MpiBackend::allreduce(const void* contribution, const Buffer& result, ReduceOp op) {
  const auto type = element(result.scalar).type;
  const auto mpi_op = reduction(op, result.scalar);
  const auto size = result.scalar.size;
  in_chunks(element_count(result.shape), [&](std::int64_t first, int count) {
    const void* in = contribution ? static_cast<const std::byte*>(contribution) + first * size : MPI_IN_PLACE;
    auto* out = static_cast<std::byte*>(result.data) + first * size;
    check(MPI_Allreduce(in, out, count, type, mpi_op, context_.comm), "MPI_Allreduce");
  });
}

void MpiBackend::bcast(const Buffer& buffer, int root) {
  const auto data = payload(element_count(buffer.shape), buffer.scalar);
  const int code = MPI_Bcast(buffer.data, data.count, data.type, root, context_.comm);
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, fmt::format("MPI_Bcast from rank {}", root));
}

void MpiBackend::barrier() {
  check(MPI_Barrier(context_.comm), "MPI_Barrier");
}

} // namespace kontor::comm::mpi

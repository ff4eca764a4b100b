// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi_backend.hpp"

#include "pattern.hpp"

#include <kontor/comm/error.hpp>

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

} // namespace kontor::comm::mpi

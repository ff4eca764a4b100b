// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `view`, the typed View bindings: a View travels as it lies, a strided one described to MPI by a derived
// datatype that is made once, with the plan.
#include "backend/mpi/mpi_backend.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>

namespace kontor::comm::view {

Capabilities capabilities() {
  return {.packings = {Packing::kernel, Packing::datatype, Packing::none},
          .indexed_buffers = true,
          .own_memory = mpi::own_memory,
          .device_buffers = gpu_awareness().aware};
}

std::unique_ptr<Backend> make(const BackendContext& context) { return std::make_unique<mpi::MpiBackend>(context); }

} // namespace kontor::comm::view

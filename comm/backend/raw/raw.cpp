// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `raw`, the traditional way: pointer, count and MPI datatype of contiguous memory. The baseline that the
// others are compared with.
#include "backend/mpi/mpi_backend.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>

namespace kontor::comm::raw {

Capabilities capabilities() {
  return {.own_memory = mpi::own_memory,
          .device_buffers = gpu_awareness().aware,
          .same_calls = "view"}; // with packing `kernel`, the one that both have
}

std::unique_ptr<Backend> make(const BackendContext& context) { return std::make_unique<mpi::MpiBackend>(context); }

} // namespace kontor::comm::raw

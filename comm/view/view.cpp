// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `view`, the typed View bindings: a View travels as it lies, a strided one described to MPI by a
// derived datatype that is made once, with the plan.
#include "mpi/mpi_backend.hpp"

#include <kontor/comm/gpu_awareness.hpp>

namespace kontor::comm::view {
namespace {

class View final : public mpi::MpiBackend {
 public:
  using MpiBackend::MpiBackend;

  Capabilities capabilities() const override {
    return {.strided_buffers = true, .device_buffers = gpu_awareness().aware};
  }
};

} // namespace

std::unique_ptr<Backend> make(const BackendContext& context) {
  return std::make_unique<View>(context);
}

} // namespace kontor::comm::view

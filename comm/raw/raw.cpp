// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `raw`, the traditional way: pointer, count and MPI datatype of contiguous memory. The baseline
// that the others are compared with.
#include "mpi/mpi_backend.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/gpu_awareness.hpp>

namespace kontor::comm::raw {
namespace {

class Raw final : public mpi::MpiBackend {
 public:
  using MpiBackend::MpiBackend;

  Capabilities capabilities() const override { return {.device_buffers = gpu_awareness().aware}; }
};

} // namespace

std::unique_ptr<Backend> make(const BackendContext& context) {
  if (context.options.packing == Packing::datatype)
    throw UsageError("backend 'raw' takes contiguous buffers only, so packing 'datatype' is not possible; "
                     "choose packing 'kernel' or backend 'view'");
  return std::make_unique<Raw>(context);
}

} // namespace kontor::comm::raw

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/mpi_backend.hpp"
#include <nccl.h>
#include <fmt/format.h>
namespace kontor::comm::nccl {
namespace {
class Nccl final : public mpi::MpiBackend {
 public:
  using MpiBackend::MpiBackend;
  Capabilities capabilities() const override { return {.host_buffers = false, .device_buffers = true, .stream_ordered = true, .device_sums = true}; }
};
} // namespace
std::unique_ptr<Backend> make(const MpiHandle& handle) { int v=0; ncclGetVersion(&v); return std::make_unique<Nccl>(handle); }
} // namespace kontor::comm::nccl

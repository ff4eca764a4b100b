// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `nccl`: NVIDIA's library, ordered on the stream of the execution-space instance. Collectives of Views in host
// memory are MPI's, of Views in device memory NCCL's where it has them.
#include "backend/mpi/mpi_backend.hpp"
#include "backend/nccl/nccl_comm.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

#include <cstdlib>

namespace kontor::comm::nccl {
namespace {

class Nccl final : public mpi::MpiBackend {
 public:
  using MpiBackend::MpiBackend;

  PlannedExchange plan(const Schedule& schedule) override { return {make_plan(nccl_comm(), schedule, start_order())}; }

  StreamCollectives* stream_collectives() override {
    if (!collectives_) collectives_ = make_stream_collectives(nccl_comm());
    return collectives_.get();
  }

  std::string remark() const override {
    int version = 0;
    check(ncclGetVersion(&version), "ncclGetVersion");
    const char* const mixing = std::getenv("NCCL_GRAPH_MIXING_SUPPORT");
    return fmt::format("NCCL {}.{}.{}{}", version / 10000, version / 100 % 100, version % 100,
                       mixing ? fmt::format(", NCCL_GRAPH_MIXING_SUPPORT={}", mixing) : "");
  }

 private:
  /// Made when first needed, which is collective: a backend that is only listed costs nothing.
  const std::shared_ptr<NcclComm>& nccl_comm() {
    if (!nccl_comm_) nccl_comm_ = std::make_shared<NcclComm>(context());
    return nccl_comm_;
  }

  std::shared_ptr<NcclComm> nccl_comm_;
  std::unique_ptr<StreamCollectives> collectives_;
};

} // namespace

Capabilities capabilities() {
  return {.patterns = {Pattern::nonblocking},
          .host_buffers = false,
          .device_buffers = true,
          .stream_ordered = true,
          .stream_collectives = true};
}

std::unique_ptr<Backend> make(const BackendContext& context) { return std::make_unique<Nccl>(context); }

} // namespace kontor::comm::nccl

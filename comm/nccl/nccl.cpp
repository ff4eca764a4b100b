// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `nccl`: NVIDIA's library, ordered on the stream of the execution-space instance. Collectives of
// Views in host memory are MPI's.
#include "mpi/mpi_backend.hpp"
#include "nccl/check.hpp"
#include "nccl/grouped_plan.hpp"
#include "nccl/nccl_comm.hpp"
#include "nccl/reduction.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

namespace kontor::comm::nccl {
namespace {

class Nccl final : public mpi::MpiBackend {
 public:
  using MpiBackend::MpiBackend;

  Capabilities capabilities() const override {
    return {.host_buffers = false, .device_buffers = true, .stream_ordered = true, .device_sums = true};
  }

  std::unique_ptr<Plan> plan(Schedule& schedule) override { return make_plan(nccl_comm(), schedule); }

  void allreduce_on(Stream stream, const Buffer& result, ReduceOp op) override {
    const auto [nccl_op, type, count] = reduction(result, op);
    auto& ranks = *nccl_comm();
    ranks.poll("allreduce_on");
    const auto code = ncclAllReduce(result.data, result.data, count, type, nccl_op, ranks.get(),
                                    static_cast<cudaStream_t>(stream));
    if (code != ncclSuccess) [[unlikely]]
      ranks.fail(code, fmt::format("ncclAllReduce of View '{}'", result.label));
  }

  std::string remark() const override {
    int version = 0;
    check(ncclGetVersion(&version), "ncclGetVersion");
    return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  }

 private:
  /// Made when first needed, which is collective: a backend that is only listed costs nothing.
  const std::shared_ptr<NcclComm>& nccl_comm() {
    if (!nccl_comm_) nccl_comm_ = std::make_shared<NcclComm>(context());
    return nccl_comm_;
  }

  std::shared_ptr<NcclComm> nccl_comm_;
};

} // namespace

std::unique_ptr<Backend> make(const BackendContext& context) {
  const auto& options = context.options;
  if (options.packing == Packing::datatype)
    throw UsageError("backend 'nccl' takes contiguous buffers only, so packing 'datatype' is not possible; "
                     "choose packing 'kernel' or 'auto'");
  if (options.pattern != Pattern::nonblocking)
    throw UsageError(
        "backend 'nccl' has one pattern, 'nonblocking'; choose it, or backend 'view' for the others");
  return std::make_unique<Nccl>(context);
}

} // namespace kontor::comm::nccl

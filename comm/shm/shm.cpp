// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `shm`: the pack kernel of the sender writes into memory that the receiver's unpack kernel reads, by
// MPI-3 shared-memory windows (MPI 3.1, section 11.2.3). Messages to other nodes go by nonblocking MPI.
#include "mpi/mpi_backend.hpp"
#include "shm/node.hpp"
#include "shm/shared_plan.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

namespace kontor::comm::shm {
namespace {

class Shm final : public mpi::MpiBackend {
 public:
  explicit Shm(const BackendContext& context) : MpiBackend(context), node_(std::make_shared<Node>(context)) {}

  Capabilities capabilities() const override { return {}; }

  OwnMemory own_memory(int peer) const override {
    const bool shared = node_->local(peer) != MPI_UNDEFINED;
    return {.sends = shared, .receives = shared};
  }

  std::unique_ptr<Plan> plan(Schedule& schedule) override { return make_plan(context(), node_, schedule); }

  std::string remark() const override {
    if (node_->nodes() == 1) return {};
    return fmt::format(
        "the ranks are on {} nodes; shared memory carries messages within a node, and nonblocking "
        "MPI those between nodes",
        node_->nodes());
  }

 private:
  std::shared_ptr<Node> node_;
};

} // namespace

std::unique_ptr<Backend> make(const BackendContext& context) {
  const auto& options = context.options;
  if (options.packing == Packing::datatype || options.packing == Packing::none)
    throw UsageError(
        "backend 'shm' copies every message into shared memory by the pack kernel; choose packing "
        "'kernel' or 'auto'");
  if (options.pattern != Pattern::nonblocking)
    throw UsageError(
        "backend 'shm' has one pattern, 'nonblocking'; choose it, or backend 'view' for the others");
  return std::make_unique<Shm>(context);
}

} // namespace kontor::comm::shm

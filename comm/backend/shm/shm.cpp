// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `shm`: the pack kernel of the sender writes into memory that the receiver's unpack kernel reads, by MPI-3
// shared-memory windows (MPI 3.1, section 11.2.3). Messages to other nodes go by nonblocking MPI.
#include "backend/mpi/mpi_backend.hpp"
#include "backend/shm/node.hpp"

#include <fmt/format.h>

namespace kontor::comm::shm {
namespace {

class Shm final : public mpi::MpiBackend {
 public:
  explicit Shm(const BackendContext& context) : MpiBackend(context), node_(std::make_shared<Node>(context)) {}

  OwnMemory own_memory(int peer, Pattern /*pattern*/) const override {
    const bool shared = node_->local(peer) != MPI_UNDEFINED;
    return {.sends = shared, .receives = shared};
  }

  PlannedExchange plan(const Schedule& schedule) override { return make_plan(context(), node_, schedule); }

  std::string remark() const override {
    if (node_->nodes() == 1) return {};
    return fmt::format("the ranks are on {} nodes; shared memory carries messages within a node, and nonblocking "
                       "MPI those between nodes",
                       node_->nodes());
  }

 private:
  std::shared_ptr<Node> node_;
};

} // namespace

Capabilities capabilities() {
  return {.patterns = {Pattern::nonblocking},
          .packings = {Packing::kernel},
          .packings_because = "copies every message into shared memory by the pack kernel",
          .own_memory = {Pattern::nonblocking}};
}

std::unique_ptr<Backend> make(const BackendContext& context) { return std::make_unique<Shm>(context); }

} // namespace kontor::comm::shm

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backend `shm`: the pack kernel of the sender writes into memory that the receiver's unpack kernel reads, by MPI-3
// shared-memory windows (MPI 3.1, section 11.2.3). Messages to other nodes go by nonblocking MPI.
#include "backend/mpi/mpi_backend.hpp"
#include "backend/room.hpp"
#include "backend/shm/shared_plan.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/peer_wait.hpp>

#include <fmt/format.h>

namespace kontor::comm::shm {
namespace {

/// A window, whose parts are mapped into all ranks of a node.
class NodeMemory final : public PeerAllocation {
 public:
  NodeMemory(std::shared_ptr<Node> node, std::size_t bytes) : node_(std::move(node)), window_(*node_, bytes) {}

  std::byte* of(int rank) const override { return window_.part(node_->local(rank)); }
  PeerSignals* signals() const override { return &signals_; }

 private:
  std::shared_ptr<Node> node_;
  Window window_;
  mutable PeerSignals signals_;
};

class Shm final : public mpi::MpiBackend {
 public:
  explicit Shm(const BackendContext& context) : MpiBackend(context), node_(std::make_shared<Node>(context)) {}

  OwnMemory own_memory(int peer, Pattern /*pattern*/) const override {
    const bool shared = node_->local(peer) != MPI_UNDEFINED;
    return {.sends = shared, .receives = shared};
  }

  PlannedExchange plan(const Schedule& schedule) override { return make_plan(context(), node_, schedule); }

  std::unique_ptr<PeerAllocation> peer_memory(std::size_t bytes) override {
    if (node_->nodes() > 1)
      throw UsageError(
          fmt::format("backend 'shm' maps the memory of ranks of one node, and there are {}", node_->nodes()),
          Axis::backend);
    mpi::require_room(context().comm, bytes, "memory for kernels of other ranks: backend 'shm'", Axis::backend,
                      "a launch or transfer without it, or backend raw or view");
    return std::make_unique<NodeMemory>(node_, bytes);
  }

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
          .own_memory = {Pattern::nonblocking},
          .peer_memory = true};
}

std::unique_ptr<Backend> make(const BackendContext& context) { return std::make_unique<Shm>(context); }

} // namespace kontor::comm::shm

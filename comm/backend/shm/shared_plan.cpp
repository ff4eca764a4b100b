// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message within a node: a place in the receiver's memory and two counters, of the steps in which the sender has
// filled it and in which the receiver has emptied it. A sender writes in step n once n - 1 has been emptied; a receiver
// reads once n has been filled. Counters lie on cache lines of their own.
#include "backend/shm/shared_plan.hpp"

#include "backend/mpi/mpi_backend.hpp"
#include "backend/peer_exchange.hpp"
#include "backend/room.hpp"
#include "base/deadline.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

namespace kontor::comm::shm {

namespace {

constexpr std::size_t line = 64;

struct Slot {
  alignas(line) std::uint64_t filled;
  alignas(line) std::uint64_t emptied;
};

std::size_t bytes_of(const Buffer& buffer) {
  return sizeof(Slot) + static_cast<std::size_t>(aligned(byte_count(buffer), line));
}

std::uint64_t steps(std::uint64_t& counter) { return std::atomic_ref(counter).load(std::memory_order_acquire); }

void set_steps(std::uint64_t& counter, std::uint64_t step) {
  std::atomic_ref(counter).store(step, std::memory_order_release);
}

struct Shared {
  Slot* slot;
  int peer;
  std::string label; ///< of the View
};

class SharedPlan final : public Plan {
 public:
  SharedPlan(const BackendContext& context, std::shared_ptr<Node> node, const Schedule& schedule)
      : comm_(context.comm), timeout_(mpi::timeout(context.options)),
        subject_(fmt::format("exchange '{}'", schedule.label)), node_(std::move(node)),
        window_(*node_, roomy(bytes_of_receives(schedule))) {
    place(schedule);
    const auto others = part(schedule, false);
    if (!others.sends.empty() || !others.receives.empty())
      between_nodes_ = mpi::make_nonblocking(context, mpi::messages(others));
  }

  const std::vector<void*>& send_places() const { return send_places_; }
  const std::vector<void*>& receive_places() const { return receive_places_; }

  void prepare() override {
    for (auto& s : sends_)
      wait_for(s.slot->emptied, timeout_, [&] { return fmt::format("rank {} to receive View '{}'", s.peer, s.label); });
  }

  void start() override {
    ++step_;
    for (auto& s : sends_) set_steps(s.slot->filled, step_);
    if (between_nodes_) between_nodes_->start();
  }

  void finish() override {
    constexpr double any_time = 0;
    for (auto& r : receives_) wait_for(r.slot->filled, any_time, [] { return std::string(); });
    if (between_nodes_) between_nodes_->finish();
  }

  bool test() override {
    mpi::make_progress(comm_);
    for (auto& r : receives_)
      if (steps(r.slot->filled) < step_) return false;
    return !between_nodes_ || between_nodes_->test();
  }

  void release() override {
    for (auto& r : receives_) set_steps(r.slot->emptied, step_);
  }

  std::string awaited() const override {
    for (const auto& r : receives_)
      if (steps(r.slot->filled) < step_) return fmt::format("rank {} to send to View '{}'", r.peer, r.label);
    return between_nodes_ ? between_nodes_->awaited() : Plan::awaited();
  }

 private:
  bool on_node(const Transfer& transfer) const { return node_->local(transfer.peer) != MPI_UNDEFINED; }

  /// The messages within the node, or those between nodes.
  Schedule part(const Schedule& schedule, bool within_node) const {
    auto result = schedule;
    for (auto* transfers : {&result.sends, &result.receives})
      std::erase_if(*transfers, [&](const Transfer& t) { return on_node(t) != within_node; });
    return result;
  }

  std::size_t bytes_of_receives(const Schedule& schedule) const {
    std::size_t bytes = 0;
    for (const auto& t : schedule.receives)
      if (on_node(t)) bytes += bytes_of(t.buffer);
    return bytes;
  }

  /// Collective. The same number, if there is room for the window.
  std::size_t roomy(std::size_t bytes) const {
    mpi::require_room(comm_, bytes, subject_ + ": backend 'shm'", Axis::backend, "backend raw or view");
    return bytes;
  }

  /// Each receive gets its place in this rank's part, and its sender learns where.
  void place(const Schedule& schedule) {
    const int me = mpi::rank_of(node_->comm());
    const auto [label, sends, receives, stream, pattern, packing] = part(schedule, true);
    std::vector<MPI_Aint> mine;
    MPI_Aint next = 0;
    for (const auto& t : receives) {
      mine.push_back(next);
      next += static_cast<MPI_Aint>(bytes_of(t.buffer));
    }
    const auto theirs = mpi::peer_exchange(comm_, receives, mine, sends);
    std::size_t k = 0;
    for (const auto& t : schedule.receives)
      receive_places_.push_back(on_node(t) ? put(receives_, t, window_.part(me) + mine[k++]) : nullptr);
    k = 0;
    for (const auto& t : schedule.sends)
      send_places_.push_back(on_node(t) ? put(sends_, t, window_.part(node_->local(t.peer)) + theirs[k++]) : nullptr);
  }

  /// Returns where its elements lie.
  static void* put(std::vector<Shared>& list, const Transfer& transfer, std::byte* place) {
    auto* const slot = reinterpret_cast<Slot*>(place);
    list.push_back({slot, transfer.peer, transfer.buffer.label});
    return slot + 1;
  }

  /// For the step that is under way.
  template <class Awaited>
  void wait_for(std::uint64_t& counter, double timeout, const Awaited& awaited) {
    unsigned turns = 0;
    const auto done = [&] {
      if (steps(counter) >= step_) return true;
      if (++turns % 256 == 0) mpi::make_progress(comm_);
      return false;
    };
    mpi::wait_within(timeout, comm_, subject_, done, awaited);
  }

  MPI_Comm comm_;
  double timeout_;
  std::string subject_; ///< "exchange 'halo'"
  std::shared_ptr<Node> node_;
  Window window_;
  std::vector<Shared> sends_;
  std::vector<Shared> receives_;
  std::vector<void*> send_places_; ///< null for those to other nodes
  std::vector<void*> receive_places_;
  std::unique_ptr<Plan> between_nodes_;
  std::uint64_t step_ = 0;
};

} // namespace

PlannedExchange make_plan(const BackendContext& context, std::shared_ptr<Node> node, const Schedule& schedule) {
  auto plan = std::make_unique<SharedPlan>(context, std::move(node), schedule);
  auto sends = plan->send_places();
  auto receives = plan->receive_places();
  return {std::move(plan), std::move(sends), std::move(receives)};
}

} // namespace kontor::comm::shm

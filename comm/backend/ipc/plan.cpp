// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message within a node: the sender's kernel copies from the cells of its View to those of the receiver's, mapped
// into the sender's process. Two counters of steps order it, each in the memory of the rank that waits for it: up to
// which step the receiver's cells are free, and up to which one they have been written.
#include "backend/ipc/plan.hpp"

#include "backend/ipc/connection.hpp"
#include "backend/ipc/host_wait.hpp"
#include "backend/ipc/kernels.hpp"
#include "base/deadline.hpp"

#include <fmt/format.h>

namespace kontor::comm::ipc {
namespace {

class PeerPlan final : public Plan {
 public:
  PeerPlan(const BackendContext& context, const Gpus& gpus, const Schedule& schedule,
           std::shared_ptr<mpi::StartOrder> order)
      : comm_(context.comm), unsafe_to_free_(context.unsafe_to_free), timeout_(mpi::timeout(context.options)),
        label_(schedule.label), stream_(static_cast<cudaStream_t>(schedule.stream)),
        connection_(std::make_unique<Connection>(context.comm, gpus, schedule)), device_(connection_->plan()),
        order_(std::move(order)), number_(order_->enroll(schedule.label)) {
    device_.timeout = static_cast<std::uint64_t>(timeout_ * 1e9);
    for (const auto& t : schedule.receives) messages_.push_back({t.peer, t.buffer.label});
    for (const auto& t : schedule.sends) messages_.push_back({t.peer, t.buffer.label});
  }

  /// Collective, unless this rank ends alone.
  ~PeerPlan() override {
    if (mpi::ends_alone(*unsafe_to_free_)) {
      leak();
      return;
    }
    if (under_way_) static_cast<void>(launch_finish(device_, stream_));
    static_cast<void>(cudaStreamSynchronize(stream_));
    connection_->close();
  }

  void start() override {
    poll();
    order_->start(number_, is_captured(stream_));
    check_step(launch_start(device_, stream_), "launching the kernel that sends");
    under_way_ = true;
  }

  void finish() override {
    under_way_ = false;
    check_step(launch_finish(device_, stream_), "launching the kernel that waits for what is received");
    if (timeout_ > 0) // at check level `cross_rank` errors belong to the step in which they come up
      check_step(wait_for_stream(comm_, stream_), "waiting for what is received");
    poll();
  }

  void poll() override {
    const auto late = static_cast<int>(device::load_relaxed(connection_->signals().late));
    if (late == 0) [[likely]]
      return;
    *unsafe_to_free_ = true;
    const auto& [peer, label] = messages_[late - 1];
    throw Error(fmt::format("exchange '{}': rank {} has waited {} s for rank {} to {} View '{}'", label_,
                            mpi::rank_of(comm_), timeout_, peer, late > device_.receives ? "receive" : "send to",
                            label),
                "E-COMM-TIMEOUT");
  }

 private:
  /// For errors.
  struct Message {
    int peer;
    std::string label; ///< of the View
  };

  /// Local. Kernels that wait for others end; what they and those of other ranks may still use is leaked. Memory of
  /// others stays mapped only if the kernels do not end: mapped twice, it is an error.
  void leak() {
    const auto code = end_waiting(connection_->signals(), [&] { return query(stream_); });
    if (code == cudaSuccess) connection_->unmap();
    detail::leak(std::move(connection_));
  }

  void check_step(cudaError_t code, const char* operation) {
    if (code == cudaSuccess) [[likely]]
      return;
    *unsafe_to_free_ = true;
    fail(code, fmt::format("exchange '{}': {}", label_, operation));
  }

  MPI_Comm comm_;
  std::shared_ptr<bool> unsafe_to_free_;
  double timeout_;
  std::string label_;
  cudaStream_t stream_;
  std::vector<Message> messages_; ///< receives, then sends
  bool under_way_ = false;
  std::unique_ptr<Connection> connection_;
  DevicePlan device_;
  std::shared_ptr<mpi::StartOrder> order_;
  std::uint32_t number_; ///< of the plan
};

} // namespace

std::unique_ptr<Plan> make_plan(const BackendContext& context, const Gpus& gpus, const Schedule& schedule,
                                std::shared_ptr<mpi::StartOrder> order) {
  return std::make_unique<PeerPlan>(context, gpus, schedule, std::move(order));
}

} // namespace kontor::comm::ipc

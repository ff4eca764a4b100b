// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message within a node: the sender's kernel copies from the cells of its View to those of the receiver's,
// mapped into the sender's process. Two counters of steps order it, each in the memory of the rank that waits
// for it: up to which step the receiver's cells are free, and up to which one they have been written.
#include "ipc/plan.hpp"

#include "ipc/check.hpp"
#include "ipc/kernels.hpp"
#include "ipc/memory.hpp"
#include "ipc/together.hpp"
#include "mpi/deadline.hpp"
#include "mpi/places.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/layout.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace kontor::comm::ipc {
namespace {

/// What a receiver tells its source.
struct Landing {
  Place cells;   ///< of the View; none if there are no elements
  Shape shape;   ///< in which they lie
  Place arrived; ///< the counter to be told
};

/// For errors.
struct Message {
  int peer;
  std::string label; ///< of the View
};

/// All that peers or kernels may be using.
struct Resources {
  DeviceArray<State> state;
  DeviceArray<Counter> counters; ///< `arrived` of the receives, then `free` of the sends
  DeviceArray<Counter*> tell_free;
  DeviceArray<Counter*> tell_arrived;
  DeviceArray<Piece> pieces;
  Pinned<Notice> notice;
  Mappings mappings; // last: gone before this rank's own memory
};

std::uint32_t most_blocks() {
  constexpr int per_processor = 3; // as many as there is room for
  int device = 0;
  int processors = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(per_processor * processors);
}

class PeerPlan final : public Plan {
 public:
  PeerPlan(const MpiHandle& handle, const Schedule& schedule)
      : comm_(handle.comm), littered_(handle.littered), patience_(mpi::patience(handle.options)),
        rank_(mpi::rank_of(handle.comm)), label_(schedule.label),
        stream_(static_cast<cudaStream_t>(schedule.stream)), resources_(std::make_unique<Resources>()) {
    for (const auto& t : schedule.receives) messages_.push_back({t.peer, t.buffer.label});
    for (const auto& t : schedule.sends) messages_.push_back({t.peer, t.buffer.label});
    std::vector<Landing> landings;
    std::vector<Place> frees;
    together([&] { allocate(schedule, landings, frees); });
    const auto their_landings = mpi::trade(comm_, schedule.receives, landings, schedule.sends);
    const auto their_frees = mpi::trade(comm_, schedule.sends, frees, schedule.receives);
    try {
      together([&] { connect(schedule, their_landings, their_frees); });
    } catch (...) {
      disconnect();
      throw;
    }
  }

  ~PeerPlan() override {
    if (std::uncaught_exceptions() > 0 || *littered_) { // the other ranks may be gone
      std::atomic_ref(resources_->notice->abandoned).store(1);
      static_cast<void>(resources_.release()); // kernels of this rank and of others may still use it
      return;
    }
    if (under_way_) static_cast<void>(launch_finish(device_, stream_));
    static_cast<void>(cudaStreamSynchronize(stream_));
    disconnect();
  }

  void start() override {
    check_lateness();
    check_step(launch_start(device_, stream_), "launching the kernel that sends");
    under_way_ = true;
  }

  void finish() override {
    under_way_ = false;
    check_step(launch_finish(device_, stream_), "launching the kernel that waits for what is received");
    if (patience_ > 0) wait_on_host();
    check_lateness();
  }

 private:
  template <class Part>
  void together(const Part& part) const {
    ipc::together(comm_, [&] {
      try {
        part();
      } catch (const Error& error) {
        throw Error(fmt::format("exchange '{}': on rank {}, {}", label_, rank_, error.what()));
      }
    });
  }

  /// What this rank tells: its destinations where its counters are, its sources where to write.
  void allocate(const Schedule& schedule, std::vector<Landing>& landings, std::vector<Place>& frees) {
    auto& own = *resources_;
    device_.receives = static_cast<int>(schedule.receives.size());
    device_.sends = static_cast<int>(schedule.sends.size());
    device_.patience = static_cast<std::uint64_t>(patience_ * 1e9);
    device_.most_blocks = most_blocks();
    own.notice = make_pinned<Notice>();
    own.state = to_device(std::vector<State>(1), stream_);
    own.counters = to_device(std::vector<Counter>(messages_.size()), stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    device_.notice = own.notice.get();
    device_.state = own.state.get();
    device_.arrived = own.counters.get();
    device_.free = own.counters.get() + device_.receives;

    if (messages_.empty()) return;
    auto counter = place_of(own.counters.get(), "the counters of steps");
    const auto take = [&] { return std::exchange(counter, counter + sizeof(Counter)); };
    for (const auto& t : schedule.receives) {
      const bool any = element_count(t.buffer.shape) > 0;
      const auto cells = any ? place_of(t.buffer.data, fmt::format("View '{}'", t.buffer.label)) : Place{};
      landings.push_back({cells, t.buffer.shape, take()});
    }
    for (std::size_t i = 0; i < schedule.sends.size(); ++i) frees.push_back(take());
  }

  void connect(const Schedule& schedule, const std::vector<Landing>& landings,
               const std::vector<Place>& frees) {
    auto& own = *resources_;
    std::vector<Piece> all;
    std::vector<Counter*> tell_arrived;
    std::vector<Counter*> tell_free;
    for (std::size_t i = 0; i < landings.size(); ++i) {
      const auto& from = schedule.sends[i].buffer;
      const int peer = schedule.sends[i].peer;
      tell_arrived.push_back(counter(landings[i].arrived, peer));
      if (element_count(from.shape) == 0) continue;
      auto to = from;
      to.shape = landings[i].shape;
      to.data = reach(landings[i].cells, peer,
                      fmt::format("the memory of rank {} that receives View '{}'", peer, from.label));
      const auto more = pieces(from, to);
      all.insert(all.end(), more.begin(), more.end());
    }
    for (std::size_t i = 0; i < frees.size(); ++i)
      tell_free.push_back(counter(frees[i], schedule.receives[i].peer));
    device_.tiles = number_tiles(all);
    device_.piece_count = static_cast<int>(all.size());
    own.pieces = to_device(all, stream_);
    own.tell_arrived = to_device(tell_arrived, stream_);
    own.tell_free = to_device(tell_free, stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    device_.pieces = own.pieces.get();
    device_.tell_arrived = own.tell_arrived.get();
    device_.tell_free = own.tell_free.get();
  }

  /// CUDA does not let a process open what is its own.
  std::byte* reach(const Place& place, int peer, const std::string& what) {
    return peer == rank_ ? place.address : resources_->mappings.open(place, what);
  }

  Counter* counter(const Place& place, int peer) {
    return reinterpret_cast<Counter*>(
        reach(place, peer, fmt::format("the counters of steps of rank {}", peer)));
  }

  /// Nobody has this rank's memory mapped any more, and no rank frees its own before.
  void disconnect() {
    resources_->mappings.close();
    MPI_Barrier(comm_);
  }

  /// At check level `cross_rank` errors belong to the step in which they come up. While the host waits, MPI
  /// messages of this rank must not stand still: a peer may need them to come here.
  void wait_on_host() {
    auto status = cudaStreamCaptureStatusNone;
    check_step(cudaStreamIsCapturing(stream_, &status), "cudaStreamIsCapturing");
    if (status != cudaStreamCaptureStatusNone) return;
    constexpr double any_time = 0; // the kernels' own patience ends it
    mpi::Deadline(any_time).wait([&] {
      int flag = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &flag, MPI_STATUS_IGNORE);
      const auto code = cudaStreamQuery(stream_);
      if (code == cudaErrorNotReady) return false;
      check_step(code, "cudaStreamQuery");
      return true;
    });
  }

  void check_step(cudaError_t code, const char* operation) {
    if (code == cudaSuccess) [[likely]]
      return;
    *littered_ = true;
    fail(code, fmt::format("exchange '{}': {}", label_, operation));
  }

  void check_lateness() {
    const int late = std::atomic_ref(resources_->notice->late).load(std::memory_order_relaxed);
    if (late == 0) [[likely]]
      return;
    *littered_ = true;
    const auto& [peer, label] = messages_[late - 1];
    throw Error(fmt::format("exchange '{}': rank {} has waited {} s for rank {} to {} View '{}'", label_,
                            rank_, patience_, peer, late > device_.receives ? "receive" : "send to", label));
  }

  MPI_Comm comm_;
  std::shared_ptr<bool> littered_;
  double patience_;
  int rank_;
  std::string label_;
  cudaStream_t stream_;
  std::vector<Message> messages_; ///< receives, then sends
  DevicePlan device_;
  bool under_way_ = false;
  std::unique_ptr<Resources> resources_;
};

} // namespace

std::unique_ptr<Plan> make_plan(const MpiHandle& handle, const Schedule& schedule) {
  return std::make_unique<PeerPlan>(handle, schedule);
}

} // namespace kontor::comm::ipc

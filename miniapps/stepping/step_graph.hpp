// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/device.hpp"
#include "stepping/graph_choice.hpp"
#include "stepping/streams.hpp"

#include <kontor/comm/reductions.hpp>

#include <nlohmann/json.hpp>

#include <vector>

namespace kontor::stepping {

/// Collective. Whether kernels that stay, and wait for each other, may be chosen: not where ranks share a device, on
/// which some of their teams might never begin.
inline bool may_try_persistent(const comm::Communicator& comm) {
  return comm::allreduce(comm, miniapp::ranks_of_memory(comm).size(), comm::ReduceOp::max) == 1;
}

/// Several steps in a row that a device makes by one launch: captured once, and replayed, if the deck wants it or a
/// trial finds it faster.
template <class ExecutionSpace>
class StepGraph {
 public:
  /// Whether it has been captured.
  explicit operator bool() const { return !graphs_.empty(); }
  void forget() {
    graphs_.clear();
    alone_.clear();
  }

  /// Local. queue_steps(start) queues the steps from each of so many states that they can start from, such as from
  /// either of two fields, and does nothing else. All that it uses, and the streams, stay where they are.
  template <class QueueSteps>
  void capture(Streams<ExecutionSpace>& streams, int starts, const QueueSteps& queue_steps) {
    forget();
    graphs_ = captured(streams, starts, queue_steps);
  }

  /// Collective. Where steps are replayed on several ranks: the same without exchanges. Throws as choose() does.
  template <class QueueSteps>
  void capture_alone(const comm::Communicator& comm, Streams<ExecutionSpace>& streams, const config::Location& key,
                     int starts, const QueueSteps& queue_steps) {
    if (*this && comm.size() > 1) capture_on_all(comm, key, [&] { alone_ = captured(streams, starts, queue_steps); });
  }

  /// Collective; makes steps, from any state. Captures a graph as the deck says, or by trial. Throws config::Error on
  /// all ranks if the deck wants one in spite of `refusal`, AgreedError if a capture fails. next(): the state that
  /// steps start from now; made() is called after steps of the trial.
  template <class QueueSteps, class Next, class Made>
  void choose(const comm::Communicator& comm, Streams<ExecutionSpace>& streams, const config::Chosen<Launch>& wanted,
              const std::optional<std::string>& refusal, int starts, const QueueSteps& queue_steps, const Next& next,
              const Made& made) {
    forget();
    seconds_.clear();
    if (!wants_graph(comm, wanted, refusal)) return;
    capture_on_all(comm, wanted.location, [&] { capture(streams, starts, queue_steps); });
    for (int start = 0; start < starts; ++start) { // a device makes ready what is launched for the first time
      replay(streams, start);
      made();
    }
    streams.fence();
    if (wanted == Launch::graph) return;
    const device::Region region("stepping/trial");
    seconds_ = comm::try_in_turns(comm, 2, [&](std::size_t by_graph, int count) {
      comm::Stopwatch watch;
      double seconds = 0;
      for (int i = 0; i < count; ++i) {
        by_graph == 1 ? replay(streams, next()) : queue_steps(next());
        made();
      }
      streams.fence();
      watch.lap(seconds);
      return seconds / count;
    });
    constexpr double noise = 0.99; // a device's times vary by less
    if (seconds_[1] >= noise * seconds_[0]) forget();
  }

  /// Local; waits for nothing. The steps from that state.
  void replay(Streams<ExecutionSpace>& streams, int start) const {
    streams.replay(graphs_[static_cast<std::size_t>(start)]);
  }
  void replay_alone(Streams<ExecutionSpace>& streams, int start) const {
    streams.replay(alone_[static_cast<std::size_t>(start)]);
  }

  /// Local. What the record says: "launch", and "launch_trial" if there was one, of so many `steps`.
  nlohmann::ordered_json record(const char* steps, int count) const {
    nlohmann::ordered_json record{{"launch", *this ? "graph" : "each"}};
    if (!seconds_.empty()) record["launch_trial"] = {{steps, count}, {"each", seconds_[0]}, {"graph", seconds_[1]}};
    return record;
  }

 private:
  using Graphs = std::vector<device::CapturedGraph<ExecutionSpace>>;

  template <class QueueSteps>
  static Graphs captured(Streams<ExecutionSpace>& streams, int starts, const QueueSteps& queue_steps) {
    Graphs graphs;
    for (int start = 0; start < starts; ++start)
      graphs.push_back(streams.capture([queue_steps, start] { queue_steps(start); }));
    return graphs;
  }

  Graphs graphs_;
  Graphs alone_;                ///< without exchanges
  std::vector<double> seconds_; ///< of the steps, launched one by one and replayed; empty: not tried
};

} // namespace kontor::stepping

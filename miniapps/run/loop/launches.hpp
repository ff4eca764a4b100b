// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/loop/steps.hpp"
#include "run/record/result.hpp"
#include "run/record/timers.hpp"
#include "stepping/launch_refusal.hpp"
#include "stepping/trial.hpp"

#include <kontor/device/streams.hpp>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace kontor::miniapp {

/// How the fields after launches as in a repeat are compared with those after as many plain steps. Collective.
struct LaunchCheck {
  std::function<void()> restart = {};                   ///< puts the fields where a repeat begins
  std::function<std::uint64_t()> digest = {};           ///< of this rank's fields, or of all; else both of:
  std::function<void()> remember = {};                  ///< keeps the fields as they are
  std::function<double()> differences = {};             ///< the number of places that differ from what was kept
  std::function<void(std::int64_t steps)> plainly = {}; ///< makes plain steps, waits; empty: one launch each
  std::string places = "ranks";                         ///< what is counted
  std::string remark = ", bit for bit";
};

/// How the steps of an app are launched: kernel by kernel, many by a graph, or by a persistent kernel.
///
/// Before a launch of more than one step, all values that are due have been read: surplus steps of such a launch could
/// not be undone.
class Launches {
 public:
  /// Local. Until choose(), steps are launched kernel by kernel. Both must outlive this.
  Launches(Steps& steps, Timers& timers) : steps_(steps), timers_(timers) {}

  Steps& steps() const { return steps_; }

  /// Collective; makes steps from any state. As the deck says, or by trial. `snapshot_every`: steps between launches
  /// that end in any case; 0: none. Throws config::Error on all ranks if the deck's choice is impossible, AgreedError
  /// if a capture fails.
  void choose(std::int64_t snapshot_every = 0);
  /// Collective; makes steps, where Steps::fits_graph(). Captures graphs again, which hold numbers that have changed.
  void capture_again();
  Launch chosen() const { return chosen_; }
  /// Local. Waits for what steps have queued.
  void fence() const { terms_.streams->fence(); }

  /// Collective. Begins a repeat.
  StepPlan begin();
  /// Collective. One launch of steps after `made`, none after `until`. Returns their number.
  std::int64_t advance(std::int64_t made, std::int64_t until);
  /// Collective; waits for nothing. Steps as a repeat launches them, as if there were no other rank. Returns their
  /// number.
  std::int64_t advance_alone();

  /// Collective; makes steps. The launches of a repeat, each kind of them, against as many plain steps.
  /// Passed, as nothing is compared, where launches are plain steps themselves.
  Verification verify(const LaunchCheck&);

  /// Local. What the record says: "launch", which most steps of the repeat were launched by, and "launch_trial".
  nlohmann::ordered_json record() const;

 private:
  using Graphs = std::vector<device::CapturedGraph<LaunchSpace>>;

  std::optional<std::string> graph_refusal(std::int64_t snapshot_every) const;
  void add(Launch, std::optional<std::string> refusal, std::optional<std::string> unusual);
  std::int64_t whole_patterns(std::int64_t steps) const;
  Graphs captured(bool exchanges);
  void capture();
  void capture_alone();
  bool graph_fits(std::int64_t made, std::int64_t until) const;
  void replay(const Graphs&);
  int queue(int state, const Pass&);
  void make(Launch, std::int64_t count, bool exchanges);
  std::int64_t by_kernel(std::int64_t made, int steps);
  std::int64_t by_graph(std::int64_t made);
  std::int64_t by_pass(std::int64_t made, std::int64_t until);

  Steps& steps_;
  Timers& timers_;
  StepPlan plan_;
  LaunchTerms terms_;
  LaunchPattern pattern_; ///< of a graph, and of steps that are tried
  std::vector<Pass> passes_;
  Graphs graphs_, alone_; ///< from each state; the latter without exchanges
  Launch chosen_ = Launch::per_kernel;
  stepping::Trial trial_;
  std::array<std::int64_t, 4> made_by_{}; ///< steps of the repeat, by Launch
};

} // namespace kontor::miniapp

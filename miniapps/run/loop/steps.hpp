// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/loop/step_plan.hpp"
#include "stepping/launch.hpp"
#include "stepping/streams.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace kontor::miniapp {

using stepping::Launch;
using LaunchSpace = Kokkos::DefaultExecutionSpace;

/// What an app says about the launches of its steps; equal on all ranks.
struct LaunchTerms {
  config::Chosen<Launch> wanted{Launch::automatic}; ///< as the deck says
  const comm::Communicator* comm = nullptr;
  stepping::Streams<LaunchSpace>* streams = nullptr; ///< that steps are queued on
  bool queued = stepping::on_device;                 ///< else the host makes each step before it returns
  int states = 1; ///< that a step can begin from, such as either of two fields that take turns
  std::optional<std::string> graph_refusal = {}; ///< why steps cannot be replayed
  std::optional<std::string> kernel_refusal = "the app has no kernel for several steps";
  int kernel_steps = 0;     ///< the most that a persistent kernel makes
  bool kernel_ends = false; ///< it ends by values itself; else it makes no steps beyond one that may end the repeat
};

/// The steps of a repeat: sweeps, iterations. An app gives the steps; launches.hpp chooses how they are launched, and
/// run_steps() does what comes between them. Every function is collective unless stated.
class Steps {
 public:
  virtual ~Steps() = default;

  /// Local.
  virtual StepPlan plan() const = 0;
  /// Local.
  virtual LaunchTerms launch_terms() = 0;

  /// Prepares a repeat, most of whose steps are launched so. State is that after plan().first steps on return.
  virtual void begin(Launch) {}

  /// Queues the steps of a pass from that state, or makes them, and nothing else: a graph captures it. Returns the
  /// state that they lead to.
  virtual int queue(int state, const Pass&) = 0;
  /// Local. The state that the next step begins from.
  virtual int current_state() const { return 0; }
  /// Local. The steps of a pass have been queued: the app's own account of its fields.
  virtual void moved(const Pass&) {}
  /// The same in a repeat: takes in the value, and does what follows the last step by itself.
  virtual void account(const Pass&) {}
  /// So many values follow together.
  virtual void make_room(int /*values*/) {}

  /// Local. Whether the next step begins as those of a graph do.
  virtual bool fits_graph() const { return true; }
  /// Local. Before a graph is replayed: exchanges notice failures of other ranks.
  virtual void poll() {}

  /// Makes what persistent kernels need, or gives it back.
  virtual void use_kernel(bool) {}
  /// Local. How many of the next steps, up to `until`, one kernel makes; 0: none.
  virtual int kernel_length(std::int64_t /*made*/, std::int64_t /*until*/) const { return 0; }
  /// Makes so many steps by one kernel, with exchanges or without. With `may_end` fewer, if a value ends the repeat.
  /// Returns their number; moved() and account() follow for each.
  virtual int launch_kernel(std::int64_t /*made*/, int steps, bool /*exchanges*/, bool /*may_end*/) { return steps; }

  /// The first step that ends the repeat by its value; none: not known yet. `wait`: all values are known on return.
  virtual std::optional<std::int64_t> ended(std::int64_t /*made*/, bool /*wait*/) { return std::nullopt; }
  /// Local. Whether a step that was made may still turn out to have ended the repeat.
  virtual bool value_open() const { return false; }
  /// Undoes the last step, a launch of its own, which came after the one that ended the repeat.
  virtual void step_back() {}
  /// Waits for all steps and their values.
  virtual void drain() = 0;
  /// Local. The latest value, for the progress line.
  virtual double value() const { return 0; }
};

} // namespace kontor::miniapp

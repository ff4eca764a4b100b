// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/loop/run_steps.hpp"
#include "run/mini_app.hpp"

#include <vector>

namespace kontor::miniapp {

/// A mini-app whose repeat is a loop over steps, with launches, progress, end requests, checkpoints and, in the first
/// repeat, snapshots.
class SteppedApp : public MiniApp {
 public:
  /// Local.
  explicit SteppedApp(const RunContext& context) : context_(context) {}

  void run() final;
  void time_alone() final;
  std::vector<double> computing() const final;

 protected:
  const RunContext& context() const { return context_; }
  /// Local. The number of the last step that the loop of the last repeat has made.
  std::int64_t last_step() const { return last_step_; }

  /// Local. How the steps of a repeat are launched: per kernel, before its choose(). A member after the exchanges that
  /// steps use: its graphs must be gone before them (docs/gpu.md).
  virtual Launches& launches() = 0;
  virtual const Launches& launches() const = 0;
  /// Collective, in warm_up(); makes steps.
  void choose_launches() { launches().choose(context_.series_every()); }
  /// Collective. Before steps without exchanges: whether they can be timed; and whether those were like others.
  virtual bool begin_alone() { return true; }
  virtual bool end_alone() { return true; }
  /// Collective, at the end of run(), which it is timed in. `made`: number of the last step; below the limit if the
  /// repeat ended early.
  virtual void finish(std::int64_t /*made*/) {}

 private:
  RunContext context_;
  std::vector<double> alone_; ///< seconds of a step without exchanges: samples
  std::int64_t last_step_ = 0;
};

} // namespace kontor::miniapp

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/loop/steps.hpp"
#include "run/mini_app.hpp"

namespace kontor::miniapp {

/// A mini-app whose repeat is a loop over steps, with progress, end requests, checkpoints and, in the first repeat,
/// snapshots.
class SteppedApp : public MiniApp {
 public:
  /// Local.
  explicit SteppedApp(const RunContext& context) : context_(context) {}

  void run() final;

 protected:
  const RunContext& context() const { return context_; }
  /// Local. The number of the last step that the loop of the last repeat has made.
  std::int64_t last_step() const { return last_step_; }

  /// Local. The steps of a repeat.
  virtual Steps& steps() = 0;
  /// Collective, at the end of run(), which it is timed in. `made`: number of the last step; below the limit if the
  /// repeat ended early.
  virtual void finish(std::int64_t /*made*/) {}

 private:
  RunContext context_;
  std::int64_t last_step_ = 0;
};

} // namespace kontor::miniapp

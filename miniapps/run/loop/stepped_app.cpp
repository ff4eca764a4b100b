// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/stepped_app.hpp"

#include <fmt/format.h>

namespace kontor::miniapp {

void SteppedApp::run() {
  StepClock clock(context_.timers);
  BetweenSteps between{.progress = &context_.progress, .clock = &clock};
  if (context_.end)
    between.ends = [this](std::int64_t made, const auto& drain) { return context_.ends_after(made, *this, drain); };
  auto* const series = context_.series;
  if (between.snapshot_every = context_.series_every(); between.snapshot_every > 0)
    between.snapshot = [this, series](std::int64_t made) {
      const ScopedTimer timed(context_.timers.io("io"));
      if (const auto fields = write_fields(*series->file, fmt::format("/series/{:09}", made)))
        series->snapshots.push_back(fields->snapshot);
    };
  last_step_ = run_steps(steps(), between);
  if (series) series->complete = true;
  finish(last_step_);
}

} // namespace kontor::miniapp

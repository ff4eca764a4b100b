// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/stepped_app.hpp"

#include "stepping/seconds_alone.hpp"

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
  last_step_ = run_steps(launches(), between);
  if (series) series->complete = true;
  finish(last_step_);
}

void SteppedApp::time_alone() {
  if (context_.comm.size() == 1 || !begin_alone()) return;
  auto samples = alone_;
  stepping::sample_alone(
      context_.comm, samples, [&] { return launches().advance_alone(); }, [&] { launches().fence(); });
  if (end_alone()) alone_ = samples;
}

void SteppedApp::record_launches(AppRecord& record, std::int64_t steps) const {
  record.computing = stepping::times(alone_, steps);
  record.extras.update(launches().record());
}

} // namespace kontor::miniapp

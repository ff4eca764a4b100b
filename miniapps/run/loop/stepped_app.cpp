// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/stepped_app.hpp"

#include "stepping/seconds_alone.hpp"

#include <fmt/format.h>

namespace kontor::miniapp {

void SteppedApp::run() {
  BetweenSteps between{.progress = &context_.progress, .timers = &context_.timers};
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
  const device::Region region("stepping/alone");
  const auto launch = [&] { return launches().advance_alone(); };
  const auto steps = static_cast<double>(launch());
  const auto seconds = stepping::seconds_of_slowest(
      context_.comm, launch, [&] { launches().fence(); }, 256 / steps);
  if (end_alone()) alone_.push_back(seconds / steps);
}

std::vector<double> SteppedApp::computing() const {
  auto samples = alone_;
  for (auto& seconds : samples) seconds *= static_cast<double>(last_step_ - launches().steps().plan().first);
  return samples;
}

} // namespace kontor::miniapp

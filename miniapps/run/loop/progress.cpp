// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/progress.hpp"

#include "run/start/messages.hpp"

#include <kontor/device/clock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

constexpr double terminal_interval = 0.5; // seconds
constexpr double plain_interval = 5;

/// By the limit of steps, or, where a norm falls towards a target, by the slope of its logarithm since `before`,
/// whichever ends first. Negative if nothing can be said yet.
double seconds_left(const ProgressState& before, const ProgressState& now, double elapsed) {
  const auto done = static_cast<double>(now.step - before.step);
  if (done <= 0) return -1;
  double left = static_cast<double>(now.limit - now.step);
  if (now.target > 0 && now.norm > 0 && now.norm < before.norm) {
    const double slope = std::log(before.norm / now.norm) / done;
    left = std::min(left, std::log(now.norm / now.target) / slope);
  }
  return std::max(0.0, left) * elapsed / done;
}

} // namespace

std::string progress_line(const std::string& app, const ProgressWords& words, const ProgressState& before,
                          const ProgressState& now, double elapsed) {
  const bool may_stop = now.target > 0;
  auto text = fmt::format("{}: {} {} of {}{}", app, words.step, now.step, may_stop ? "at most " : "", now.limit);
  if (now.norm > 0) text += fmt::format(", {} {:.2e}", words.norm, now.norm);
  if (may_stop) text += fmt::format(" (to {:.0e})", now.target);
  const double steps = static_cast<double>(now.step - before.step) / elapsed;
  if (steps > 0) text += fmt::format(", {:.3g} {}s/s", steps, words.step);
  const double left = seconds_left(before, now, elapsed);
  if (left >= 0) text += fmt::format(", {:.0f} s left", left);
  return text;
}

Progress::Style Progress::style_for(int rank, bool quiet) {
  if (rank != 0 || quiet) return Style::silent;
  // Launchers put pipes between the ranks and the terminal; scripts/kontor tells what is behind them.
  const bool terminal = isatty(STDERR_FILENO) != 0 || std::getenv("KONTOR_TERMINAL") != nullptr;
  return terminal ? Style::terminal : Style::plain;
}

void Progress::update(const ProgressState& now, double time) {
  if (style_ == Style::silent) return;
  if (!shown_) {
    shown_ = {now, time};
    return;
  }
  const double elapsed = time - shown_->time;
  if (elapsed < (style_ == Style::terminal ? terminal_interval : plain_interval)) return;
  const auto text = progress_line(app_, words_, shown_->state, now, elapsed);
  shown_ = {now, time};
  if (style_ == Style::terminal)
    to_stderr(fmt::format("\r\033[K{}", text));
  else
    to_stderr(fmt::format("{}\n", text));
}

void Progress::end() {
  if (style_ == Style::terminal) to_stderr("\r\033[K");
}

} // namespace kontor::miniapp

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/progress.hpp"

#include "common/tell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr Seconds terminal_interval(0.5);
constexpr Seconds plain_interval(5);

/// By the iteration limit, or, where a norm falls towards a target, by the slope of its logarithm since
/// `before`, whichever ends first. Negative if nothing can be said yet.
double seconds_left(const Standing& before, const Standing& now, double elapsed) {
  const auto done = static_cast<double>(now.iteration - before.iteration);
  if (done <= 0) return -1;
  double left = static_cast<double>(now.limit - now.iteration);
  if (now.target > 0 && now.norm > 0 && now.norm < before.norm) {
    const double slope = std::log(before.norm / now.norm) / done;
    left = std::min(left, std::log(now.norm / now.target) / slope);
  }
  return std::max(0.0, left) * elapsed / done;
}

std::string line(const char* what, const Standing& now, double rate, double left) {
  auto text = fmt::format("{}: {} of at most {}", what, now.iteration, now.limit);
  if (now.norm > 0) text += fmt::format(", norm {:.2e}", now.norm);
  if (now.target > 0) text += fmt::format(" (to {:.0e})", now.target);
  if (rate > 0) text += fmt::format(", {:.2f} G updates/s", rate / 1e9);
  if (left >= 0) text += fmt::format(", {:.0f} s left", left);
  return text;
}

} // namespace

Progress::Style Progress::style_for(int rank, bool quiet) {
  if (rank != 0 || quiet) return Style::silent;
  // Launchers put pipes between the ranks and the terminal; scripts/kontor tells what is behind them.
  const bool terminal = isatty(STDERR_FILENO) != 0 || std::getenv("KONTOR_TERMINAL") != nullptr;
  return terminal ? Style::terminal : Style::plain;
}

void Progress::begin(const char* what) {
  what_ = what;
  shown_.reset();
}

void Progress::update(const Standing& now) {
  if (style_ == Style::silent) return;
  const auto time = Clock::now();
  if (!shown_) {
    shown_ = {now, time};
    return;
  }
  const double elapsed = Seconds(time - shown_->time).count();
  if (elapsed < (style_ == Style::terminal ? terminal_interval : plain_interval).count()) return;
  const double rate =
      static_cast<double>(now.iteration - shown_->standing.iteration) * now.updates_per_iteration / elapsed;
  const auto text = line(what_, now, rate, seconds_left(shown_->standing, now, elapsed));
  shown_ = {now, time};
  if (style_ == Style::terminal)
    tell(fmt::format("\r\033[K{}", text));
  else
    tell(fmt::format("{}\n", text));
}

void Progress::end() {
  if (style_ == Style::terminal) tell("\r\033[K");
}

} // namespace kontor::miniapp

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/progress.hpp"

#include "run/start/messages.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kontor::miniapp {

std::string progress_line(const std::string& app, const ProgressWords& words, const ProgressState& before,
                          const ProgressState& now, double elapsed) {
  const char* const at_most = now.target > 0 ? "at most " : "";
  auto text = fmt::format("{}: {} {} of {}{}", app, words.step, now.step, at_most, now.limit);
  if (now.norm > 0) text += fmt::format(", {} {:.2e}", words.norm, now.norm);
  if (now.target > 0) text += fmt::format(" (to {:.0e})", now.target);
  const double rate = static_cast<double>(now.step - before.step) / elapsed;
  if (rate > 0)
    text += fmt::format(", {:.3g} {}s/s, {}{:.0f} s left", rate, words.step, at_most,
                        static_cast<double>(now.limit - now.step) / rate);
  return text;
}

void Progress::update(const ProgressState& now, double time) {
  if (!shows_) return;
  if (!shown_) {
    shown_ = {now, time};
    return;
  }
  const double elapsed = time - shown_->time;
  if (elapsed < interval_) return;
  to_stderr(progress_line(app_, words_, shown_->state, now, elapsed) + '\n');
  shown_ = {now, time};
  interval_ = std::min(2 * interval_, 60.0);
}

} // namespace kontor::miniapp

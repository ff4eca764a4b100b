// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace kontor::miniapp {

/// Where an iteration stands. `norm` and `target` are 0 if there is none.
struct Standing {
  std::int64_t iteration = 0;
  std::int64_t limit = 0;
  double norm = 0;
  double target = 0;
  double updates_per_iteration = 0;
};

/// A line about long work on stderr: redrawn twice a second on a terminal, a plain line every five seconds
/// elsewhere. Silent on all ranks but the one that shows it.
class Progress {
 public:
  enum class Style { silent, terminal, plain };
  explicit Progress(Style style) : style_(style) {}

  /// Rank 0 shows unless `quiet`, as it suits stderr.
  static Style style_for(int rank, bool quiet);

  /// New work begins, from which rate and time left are counted.
  void begin(const char* what);
  /// Cheap enough to be called at every check.
  void update(const Standing&);
  /// Clears the line of a terminal.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  struct Shown {
    Standing standing;
    Clock::time_point time;
  };
  Style style_;
  const char* what_ = "";
  std::optional<Shown> shown_; ///< where things stood when the line was last drawn, or the work began
};

} // namespace kontor::miniapp

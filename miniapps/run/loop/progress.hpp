// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/clock.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace kontor::miniapp {

/// The words by which an app tells how far it is.
struct ProgressWords {
  std::string step = "iteration"; ///< what is counted: "sweep", "iteration"
  std::string norm = "norm";      ///< what falls towards a target: "norm", "residual"
};

/// How far an iteration is. `norm` and `target` are 0 if there is none.
struct ProgressState {
  std::int64_t step = 0;
  std::int64_t limit = 0;
  double norm = 0;
  double target = 0;
};

/// Local. The line about work that was at `before` so many seconds ago: "heat: sweep 120 of 1000, norm 1.20e-03, 110
/// sweeps/s, 8 s left".
std::string progress_line(const std::string& app, const ProgressWords&, const ProgressState& before,
                          const ProgressState& now, double elapsed);

/// Lines about long work on stderr: the first after a second, each after twice the time of the one before, at most a
/// minute.
class Progress {
 public:
  /// `shows`: whether this rank writes them.
  explicit Progress(bool shows, std::string app = {}) : shows_(shows), app_(std::move(app)) {}

  /// How the app that is run calls things.
  void describe(ProgressWords words) { words_ = std::move(words); }
  /// New work begins, from which rate and time left are counted.
  void begin() { shown_.reset(); }
  /// Cheap enough to be called at every step, by the time that device::seconds() tells.
  void update(const ProgressState&, double time = device::seconds());

 private:
  struct Shown {
    ProgressState state;
    double time; ///< of device::seconds()
  };
  bool shows_;
  std::string app_;
  ProgressWords words_;
  double interval_ = 1;        ///< s to the next line
  std::optional<Shown> shown_; ///< where things stood at the last line, or when the work began
};

} // namespace kontor::miniapp

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace kontor::miniapp {

/// The number of the last step of a repeat, those before a restart included, counted in ways that must agree.
struct StepCounts {
  std::string unit;                       ///< what a step is, in the plural: "sweeps"
  std::optional<std::int64_t> of_deck;    ///< none: a tolerance ended the repeat
  std::int64_t of_loop = 0;               ///< SteppedApp::last_step()
  std::int64_t of_figure = 0;             ///< by which figures are computed
  std::int64_t of_field = 0;              ///< that kernels have made of the fields
  std::optional<double> end_of_deck = {}; ///< time at which the deck ends; none: steps have no time
  double end_of_field = 0;                ///< time of the fields
  double work = 0;                        ///< that a figure must count in a repeat, by the deck; 0: not compared
  std::string figure = {};                ///< its name; empty: the first
};

/// Local. Fails where the figure of a repeat of so many seconds is not that of the work.
Verification verify_work(const StepCounts&, const std::vector<FigureOfMerit>&, double seconds);

/// Local. Fails where the counts differ from each other, or the times by more than rounding.
Verification verify_counts(const StepCounts&);

} // namespace kontor::miniapp

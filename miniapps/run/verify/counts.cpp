// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/verify/counts.hpp"

#include <fmt/format.h>

namespace kontor::miniapp {

Verification verify_counts(const StepCounts& counts) {
  const auto& unit = counts.unit;
  const auto of_deck = counts.of_deck.value_or(counts.of_loop);
  std::int64_t most = 0;
  for (const auto count : {counts.of_loop, counts.of_figure, counts.of_field})
    most = std::max(most, std::abs(count - of_deck));
  Verification result{.measure = fmt::format("difference of counts of {}", unit), .error = static_cast<double>(most)};
  if (most > 0)
    result.remark = fmt::format("{} {} are due, the loop has made {}, figures count {}, fields have {}", of_deck, unit,
                                counts.of_loop, counts.of_figure, counts.of_field);
  result.judged = {fmt::format("{} {}, counted by deck, loop, figure and field", of_deck, unit)};
  if (!counts.of_deck) result.judged = {fmt::format("{} {}, counted by loop, figure and field", of_deck, unit)};
  if (!result.passed() || !counts.end_of_deck) return result;
  const double end = *counts.end_of_deck;
  constexpr double rounding = 1e-9; // of as many sums as there are steps
  Verification of_time{.measure = "difference of the last time from the deck's, relative to it",
                       .error = std::abs(counts.end_of_field - end) / std::abs(end),
                       .tolerance = rounding};
  of_time.judged = std::move(result.judged);
  of_time.judged.push_back("the deck's last time is reached");
  return of_time;
}

Verification verify_work(const StepCounts& counts, const std::vector<FigureOfMerit>& figures, double seconds) {
  if (counts.work == 0) return {};
  const auto named = std::ranges::find(figures, counts.figure, &FigureOfMerit::name);
  const auto& figure = named == figures.end() ? figures.at(0) : *named;
  constexpr double rounding = 1e-12;
  return {.measure = fmt::format("work of {} relative to the deck's, less 1", figure.name),
          .error = std::abs(figure.value * seconds / counts.work - 1),
          .tolerance = rounding,
          .judged = {fmt::format("{} by {:.6g} of the deck", figure.name, counts.work)}};
}

} // namespace kontor::miniapp

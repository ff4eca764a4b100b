// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/check/exact.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

namespace kontor::advection {

Shifts shifts_after(std::int64_t steps, double courant) {
  if (courant == 1) return {steps, {1.0}};
  constexpr double least = 1e-20; // beside the greatest
  const double odds = courant / (1 - courant);
  const auto n = static_cast<double>(steps);
  const auto mode = std::min(steps, static_cast<std::int64_t>((n + 1) * courant));
  std::deque<double> weights{1.0};
  auto first = mode;
  for (auto k = mode; k < steps && weights.back() > least; ++k)
    weights.push_back(weights.back() * odds * static_cast<double>(steps - k) / static_cast<double>(k + 1));
  for (; first > 0 && weights.front() > least; --first)
    weights.push_front(weights.front() / odds * static_cast<double>(first) / static_cast<double>(steps - first + 1));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  Shifts shifts{first, {}};
  for (const auto weight : weights) shifts.weights.push_back(weight / sum);
  return shifts;
}

std::vector<double> exact(const Options& options, const config::Function& initial, const Shifts& shifts,
                          std::int64_t begin, std::int64_t end) {
  const auto count = static_cast<std::int64_t>(shifts.weights.size());
  const auto cells = options.cells;
  const int direction = options.direction();
  // Values come from the cells [lowest, lowest + size of x), which may go around the ring several times.
  const auto lowest = direction > 0 ? begin - shifts.first - count + 1 : begin + shifts.first;
  std::vector<double> x(static_cast<std::size_t>(end - begin + count - 1)), start(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto cell = ((lowest + static_cast<std::int64_t>(i)) % cells + cells) % cells;
    x[i] = options.interval[0] + (static_cast<double>(cell) + 0.5) * options.width();
  }
  initial.evaluate(x, 0, 0, 0, start);
  std::vector<double> values;
  for (auto cell = begin; cell < end; ++cell) {
    double value = 0;
    for (std::int64_t k = 0; k < count; ++k)
      value += shifts.weights[k] * start[cell - direction * (shifts.first + k) - lowest];
    values.push_back(value);
  }
  return values;
}

} // namespace kontor::advection

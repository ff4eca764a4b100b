// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/check/decay.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace kontor::heat {
namespace {

/// What begins as 1 is at no time more than this multiple of its slowest wave. In the limit of many cells the first
/// term of the series, 4/pi, would do; on two to five cells it takes more.
constexpr double most_of_a_wave = 1.5;

} // namespace

Decay::Decay(const Options& options) {
  for (int axis = 0; axis < options.dimensions(); ++axis) {
    int pinned = 0;
    for (const int face : {2 * axis, 2 * axis + 1})
      if (options.faces[face].condition == Condition::dirichlet) ++pinned;
    if (pinned == 0) continue;
    const double h = options.spacing(axis);
    const double angle = pinned * std::numbers::pi / (2 * static_cast<double>(options.cells[axis]));
    rates_.push_back(2 * options.diffusivity / (h * h) * (1 - std::cos(angle)));
  }
  std::sort(rates_.begin(), rates_.end(), std::greater<>());
}

double Decay::operator()(double time) const {
  double left = 1;
  for (const double rate : rates_) left *= std::min(1.0, most_of_a_wave * std::exp(-rate * time));
  return left;
}

/// Between the times at which one axis more begins to decay it is constant or a single exponential.
double Decay::integral(double time) const {
  double sum = 0;
  double begin = 0;
  double decaying = 0; // the rates of the axes that do
  const auto add_until = [&](double end) {
    if (!(end > begin)) return;
    sum += decaying == 0 ? end - begin : ((*this)(begin) - (*this)(end)) / decaying;
    begin = end;
  };
  for (const double rate : rates_) {
    add_until(std::min(time, std::log(most_of_a_wave) / rate));
    decaying += rate;
  }
  add_until(time);
  return sum;
}

} // namespace kontor::heat

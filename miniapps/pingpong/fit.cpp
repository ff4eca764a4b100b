// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/fit.hpp"

#include <cmath>

namespace kontor::pingpong {
namespace {

double squared_error(const Line& line, std::span<const Timed> samples) {
  double sum = 0;
  for (const auto& s : samples) {
    const double error = line.seconds(s.bytes) / s.seconds - 1;
    sum += error * error;
  }
  return sum;
}

} // namespace

Line fit_line(std::span<const Timed> samples) {
  double w = 0;
  double wx = 0;
  double wy = 0;
  for (const auto& s : samples) {
    const double weight = 1 / (s.seconds * s.seconds);
    w += weight;
    wx += weight * s.bytes;
    wy += weight * s.seconds;
  }
  const double x = wx / w;
  const double y = wy / w;
  double xx = 0;
  double xy = 0;
  for (const auto& s : samples) {
    const double weight = 1 / (s.seconds * s.seconds);
    xx += weight * (s.bytes - x) * (s.bytes - x);
    xy += weight * (s.bytes - x) * (s.seconds - y);
  }
  const double beta = xy / xx;
  return {y - beta * x, beta};
}

Hockney fit_hockney(std::span<const Timed> samples) {
  constexpr std::size_t fewest = 3;
  constexpr double good_enough = 0.02;
  Hockney result{fit_line(samples), {}};
  if (samples.size() < 2 * fewest) return result;
  const auto n = static_cast<double>(samples.size());
  const double of_one = squared_error(result.eager, samples) / (n - 2);
  if (std::sqrt(of_one) < good_enough) return result;
  double least = of_one / 2;
  for (std::size_t k = fewest; k + fewest <= samples.size(); ++k) {
    const auto below = samples.first(k);
    const auto above = samples.subspan(k);
    const Line eager = fit_line(below);
    const Line rendezvous = fit_line(above);
    const double of_two = (squared_error(eager, below) + squared_error(rendezvous, above)) / (n - 5);
    if (of_two >= least) continue;
    least = of_two;
    result = {eager, rendezvous, above.front().bytes};
  }
  return result;
}

} // namespace kontor::pingpong

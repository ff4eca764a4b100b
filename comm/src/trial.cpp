// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/trial.hpp>

#include <algorithm>

namespace kontor::comm {

TrialLength trial_length(double seconds, double limit) {
  const double readable = std::min(100e-6, limit); // s for one turn, far above what the clock resolves
  const double one = std::max(seconds, 1e-9);
  const int exchanges = std::clamp(static_cast<int>(readable / one), 1, 32);
  const int rounds = std::clamp(static_cast<int>(limit / (one * exchanges)), 3, 25);
  return {rounds, exchanges};
}

std::vector<double> medians(std::span<const double> times, std::size_t candidates) {
  std::vector<double> result;
  for (std::size_t c = 0; c < candidates; ++c) {
    std::vector<double> of_one;
    for (std::size_t i = c; i < times.size(); i += candidates) of_one.push_back(times[i]);
    const auto middle = of_one.begin() + static_cast<std::ptrdiff_t>(of_one.size() / 2);
    std::nth_element(of_one.begin(), middle, of_one.end());
    result.push_back(*middle);
  }
  return result;
}

} // namespace kontor::comm

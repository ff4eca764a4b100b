// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/bench.hpp"
#include "run/record/timers.hpp"

#include <algorithm>

namespace kontor::pingpong {

std::vector<miniapp::FigureOfMerit> typed_over_raw(const Findings& findings) {
  std::vector<double> ratios;
  for (const auto& c : findings.ratios)
    if (c.baseline == "raw") ratios.push_back(c.ratio.median);
  return {{"typed_over_raw", miniapp::median(ratios), "1"},
          {"typed_over_raw_worst", *std::max_element(ratios.begin(), ratios.end()), "1"}};
}

} // namespace kontor::pingpong

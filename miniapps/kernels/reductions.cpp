// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/reductions.hpp"

#include <limits>
#include <memory>

namespace kontor::kernels {

void measure_reductions(Bench& bench, std::int64_t n) {
  const auto numbers = filled(Numbers("kernels/numbers", n), [rank = bench.context.comm.rank()](auto i, auto, auto) {
    return 2 + random_number(rank, i);
  });
  const auto found = std::make_shared<std::pair<double, double>>(); // the least number and the sum
  const auto error = [=] {
    double least = 3, sum = 0;
    each_value(on_host(numbers), [&](double number, auto...) {
      least = number < least ? number : least;
      sum += number;
    });
    return found->first == least ? std::abs(found->second / sum - 1) : HUGE_VAL;
  };
  const auto apart = [=] {
    minimum(numbers, found->first);
    total(numbers, found->second);
  };
  const Way ways[] = {way("apart", apart),
                      way("together", [=] { minimum_and_total(numbers, found->first, found->second); })};
  const auto count = static_cast<double>(n);
  bench.time({"min and sum", n, count, {count * sizeof(double), 0}, {{"numbers", count, "1/s"}}}, ways,
             {[=] { *found = {}; }, error, count * std::numeric_limits<double>::epsilon()});
}

} // namespace kontor::kernels

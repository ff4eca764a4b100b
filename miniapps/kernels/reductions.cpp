// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"

namespace kontor::kernels {

/// The least number and the sum, on the host: by two kernels and by one.
void measure_reductions(Bench& bench, std::int64_t n) {
  const auto numbers = filled(Vector("kernels/numbers", n), [rank = bench.context.comm.rank()](auto i, auto, auto) {
    return 2 + random_number(rank, i);
  });
  double least = 0, sum = 0;
  const auto minimum = KOKKOS_LAMBDA(const std::int64_t i, double& min) {
    if (numbers(i) < min) min = numbers(i);
  };
  const auto total = KOKKOS_LAMBDA(const std::int64_t i, double& part) { part += numbers(i); };
  const auto both = KOKKOS_LAMBDA(const std::int64_t i, double& min, double& part) {
    minimum(i, min);
    total(i, part);
  };
  const auto apart = [&, minimum, total] {
    Kokkos::parallel_reduce("kernels/min", Range(0, n), minimum, Kokkos::Min<double>(least));
    Kokkos::parallel_reduce("kernels/sum", Range(0, n), total, Kokkos::Sum<double>(sum));
  };
  const auto together = [&, both] {
    Kokkos::parallel_reduce("kernels/min and sum", Range(0, n), both, Kokkos::Min<double>(least),
                            Kokkos::Sum<double>(sum));
  };
  double exact_least = HUGE_VAL, exact_sum = 0;
  each_value(on_host(numbers), [&](double number, auto...) {
    exact_least = std::min(exact_least, number);
    exact_sum += number;
  });
  const auto error = [&] { return least == exact_least ? std::abs(sum / exact_sum - 1) : HUGE_VAL; };
  const Way ways[] = {way("apart", apart), way("together", together)};
  const auto count = static_cast<double>(n);
  bench.time({"min and sum", n, count, {count * sizeof(double), 0}, {{"numbers", count, "1/s"}}}, ways,
             {[&] { least = sum = 0; }, error, count * epsilon<>});
}

} // namespace kontor::kernels

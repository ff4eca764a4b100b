// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/mdrange.hpp"

namespace kontor::kernels {

void measure_mdrange(Bench& bench, std::int64_t n) {
  const auto value = [](auto i, auto j, auto k) { return static_cast<double>(1 + i + 3 * j + 7 * k); };
  const Tensor a("kernels/a", n, n, n);
  const auto b = filled(Tensor("kernels/b", n, n, n), value);
  const auto sum = [=](auto i, auto j, auto k) { return 2 + value(i, j, k); };
  const Way ways[] = {way("outer", [=] { add_outer(a, b); }), way("flattened", [=] { add_flattened(a, b); }),
                      way("mdrange", [=] { add_mdrange(a, b); })};
  const auto elements = static_cast<double>(n * n * n), bytes = elements * sizeof(double);
  bench.time({"a += b", n, elements, {2 * bytes, bytes}, {{"bandwidth", 3 * bytes, "B/s"}}}, ways,
             {[=] { Kokkos::deep_copy(a, 2.0); }, [=] { return largest_error(a, sum); }});
}

} // namespace kontor::kernels

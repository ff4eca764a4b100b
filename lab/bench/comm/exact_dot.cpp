// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an exact dot product costs beside a plain one, of two vectors of one rank: nanoseconds an element, and
// bytes read a second. In each round both take their turn; the best of all rounds counts.
//   comm_exact_dot [rounds] [elements...]
#include <kontor/comm/comm.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace {

using namespace kontor::comm;
using Space = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Space::memory_space>;

struct Dot {
  Vector x, y;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& sum) const { sum += x(i) * y(i); }
};

/// A thread's dot product, in the order that the compiler likes best. A function of its own in profiles.
[[gnu::noinline]] double vectorised_dot(const double* x, const double* y, std::int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

double plain_dot(const Vector& x, const Vector& y) {
  const auto n = static_cast<std::int64_t>(x.extent(0));
  if constexpr (device::on_host<Space>) return vectorised_dot(x.data(), y.data(), n);
  double sum = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, n), Dot{x, y}, sum);
  return sum;
}

/// Smooth, or of sizes that differ by 2^100.
void fill(const Vector& x, double step, bool wide) {
  const auto host = Kokkos::create_mirror_view(x);
  for (std::size_t i = 0; i < x.extent(0); ++i)
    host(i) = std::ldexp(std::sin(step * static_cast<double>(i)), wide ? static_cast<int>(i * 7 % 50) : 0);
  Kokkos::deep_copy(x, host);
}

void measure(const Communicator& comm, std::int64_t n, int rounds, bool wide) {
  const Space instance;
  const Vector x("x", n), y("y", n);
  fill(x, 0.1, wide);
  fill(y, 0.37, wide);
  ExactSums<> sums(comm, "dot", 1);
  const std::int64_t steps = std::max<std::int64_t>(1, (std::int64_t{1} << 21) / n);
  double best[2] = {1e9, 1e9};
  double sink = 0;
  for (int round = 0; round < rounds; ++round)
    for (const int exactly : {0, 1}) {
      double seconds = 0;
      instance.fence();
      Stopwatch watch;
      for (std::int64_t step = 0; step < steps; ++step)
        if (exactly == 0)
          sink += plain_dot(x, y);
        else
          sums.add_dot(instance, 0, x, y);
      instance.fence();
      watch.lap(seconds);
      best[exactly] = std::min(best[exactly], 1e9 * seconds / static_cast<double>(steps * n));
    }
  sums.start(instance);
  sums.finish(instance);
  if (comm.rank() == 0)
    fmt::print("{:>11}{:>8}{:>10.3f}{:>10.1f}{:>10.3f}{:>10.1f}{:>9.2f}{}\n", n, wide ? "wide" : "smooth",
               best[0], 16 / best[0], best[1], 16 / best[1], best[1] / best[0], std::isnan(sink) ? "!" : "");
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    const Communicator comm(MPI_COMM_WORLD);
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 51;
    std::vector<std::int64_t> sizes;
    for (int i = 2; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
    if (sizes.empty()) sizes = {4096, 65536, 262144, 1 << 24};
    if (comm.rank() == 0)
      fmt::print("{:>11}{:>8}{:>10}{:>10}{:>10}{:>10}{:>9}\n", "elements", "values", "plain ns", "GB/s",
                 "exact ns", "GB/s", "ratio");
    for (const auto n : sizes)
      for (const bool wide : {false, true}) measure(comm, n, rounds, wide);
  }
  MPI_Finalize();
}

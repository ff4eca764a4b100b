// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/options.hpp"
#include "random/counter_random.hpp"
#include "run/mini_app.hpp"
#include "timing/findings.hpp"
#include "timing/interleave.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What the measures share.
namespace kontor::kernels {

using namespace timing;
using Space = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
using Figures = std::vector<miniapp::FigureOfMerit>;

/// What one execution does on a rank, by a stated count.
struct Work {
  std::string curve;
  std::int64_t size = 0;
  double elements = 0;
  miniapp::BytesMoved moved = {}; ///< at least
  Figures counts = {};            ///< of which the rates are figures: {"elements", count, "1/s"}
};

/// How results are judged; both are complete on return.
struct Check {
  std::function<void()> clear;   ///< inputs as at the start, and results that are wrong
  std::function<double()> error; ///< of what one execution has left since
  double tolerance = 0;
};

/// Where a measure works and what it fills in.
struct Bench {
  const Options& options;
  const miniapp::RunContext& context;
  Findings& findings;
  std::vector<std::pair<miniapp::FigureOfMerit, double>> figures = {}; ///< of the last size, and their seconds
  double error = 0;                                                    ///< of all checks on this rank, in tolerances

  /// Collective. Times the ways, compares them with the first one, and checks what one execution of each leaves.
  void time(const Work&, std::span<const Way>, const Check&);
};

/// Executions on the default instance, complete on return.
template <class Once>
Way way(std::string name, const Once& once, bool verified = true) {
  const auto run = [once](int executions) {
    for (int i = 0; i < executions; ++i) once();
    device::fence(Space(), "kernels/done");
  };
  return {std::move(name), run, {}, verified};
}

/// The larger error; infinite if one is not a number.
inline double worse(double a, double b) { return b <= a ? a : std::isnan(b) ? HUGE_VAL : b; }

/// work(value, i, j, k) for all values of a View on the host that has up to three dimensions.
template <class View, class Work>
void each_value(const View& view, const Work& work) {
  const auto extent = [&](unsigned d) { return static_cast<std::int64_t>(d < View::rank ? view.extent(d) : 1); };
  for (std::int64_t i = 0; i < extent(0); ++i)
    for (std::int64_t j = 0; j < extent(1); ++j)
      for (std::int64_t k = 0; k < extent(2); ++k) {
        if constexpr (View::rank == 1)
          work(view(i), i, j, k);
        else if constexpr (View::rank == 2)
          work(view(i, j), i, j, k);
        else
          work(view(i, j, k), i, j, k);
      }
}

/// The View, with the values of value(i, j, k).
template <class View, class Value>
View filled(const View& view, const Value& value) {
  const auto mirror = Kokkos::create_mirror_view(view);
  each_value(mirror, [&](auto& to, auto i, auto j, auto k) { to = value(i, j, k); });
  Kokkos::deep_copy(view, mirror);
  return view;
}

/// The values of a View, for loops on the host.
template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// The largest difference of the View's values from exact(i, j, k).
template <class View, class Exact>
double largest_error(const View& view, const Exact& exact) {
  using std::abs; // or Kokkos::abs
  double error = 0;
  each_value(on_host(view), [&](const auto& value, auto i, auto j, auto k) {
    error = worse(error, static_cast<double>(abs(value - exact(i, j, k))));
  });
  return error;
}

/// Uniform in [-1, 1).
template <class T = double>
T random_number(std::int64_t i, std::int64_t j) {
  return random::uniform<T>(random::bits_at(20, i, j));
}

// The measures at one size: a file each. All are collective over the bench's communicator.

/// The gradient of hexahedra: coordinates read up front, where they are used, and from a View of compile-time extents.
void measure_gradient(Bench&, std::int64_t elements);
/// Modified Gram-Schmidt: a chain of sums over all ranks whose results stay where kernels are.
void measure_gram_schmidt(Bench&, std::int64_t rows);
/// Matrices of finite elements, and the one that they add up to: by rows, by atomic additions, by a ScatterView.
void measure_fill(Bench&, std::int64_t edge);
/// The least number and the sum: by two kernels and by one.
void measure_reductions(Bench&, std::int64_t numbers);
/// Updates of random cells: atomic ones, and by a ScatterView.
void measure_atomics(Bench&, std::int64_t particles);
/// A loop over three dimensions: the outer one parallel, all of them as one, and an MDRangePolicy.
void measure_mdrange(Bench&, std::int64_t edge);
/// The product of a sparse matrix and a vector: a row by a thread, and by the vector lanes of a team's threads.
void measure_spmv(Bench&, std::int64_t edge);

} // namespace kontor::kernels

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/options.hpp"
#include "random/counter_random.hpp"
#include "run/mini_app.hpp"
#include "stepping/global_dots.hpp"
#include "timing/findings.hpp"
#include "timing/interleave.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>
#include <Kokkos_ScatterView.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

/// What the measures share.
namespace kontor::kernels {

using namespace timing;
using stepping::Space, stepping::Vector;
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
using Figures = std::vector<miniapp::FigureOfMerit>;
using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft>;
template <class T = double>
inline constexpr T epsilon = std::numeric_limits<T>::epsilon();

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
  Options options;
  miniapp::RunContext context;
  Findings findings = {};
  std::vector<std::pair<miniapp::FigureOfMerit, double>> figures = {}; ///< of the last size, and their seconds
  double error = 0;                                                    ///< of all checks on this rank, in tolerances

  /// Collective. Times the ways, compares them with the first one, and checks what one execution of each leaves.
  void time(const Work&, std::span<const Way>, const Check&);
};

/// Executions on the default instance, complete on return.
template <class Once>
Way way(std::string name, const Once& once, bool verified = true) {
  const auto run = [once = once](int executions) mutable {
    for (int i = 0; i < executions; ++i) once();
    device::fence(Space(), "kernels/done");
  };
  return {std::move(name), run, {}, verified};
}

/// A kernel, as what a way does once.
template <class Policy, class Functor>
auto kernel(const char* label, const Policy& policy, const Functor& functor) {
  return [=] { Kokkos::parallel_for(label, policy, functor); };
}

/// A ScatterView of the View chooses between copies for the threads and atomic updates; add() makes the updates.
template <class View, class Scatter, class Add>
Way scatter_way(const View& view, const Scatter& scatter, const Add& add) {
  return way("scatter_view", [to = view, updates = scatter, add]() mutable {
    updates.reset_except(to);
    add();
    Kokkos::Experimental::contribute(to, updates);
  });
}

/// The larger error; infinite if one is not a number.
inline double worse(double a, double b) { return b <= a ? a : std::isnan(b) ? HUGE_VAL : b; }

/// work(value, i, j, k) for all values of a View on the host that has up to three dimensions.
template <class View, class Work>
void each_value(const View& view, const Work& work) {
  for (int i = 0; i < view.extent_int(0); ++i)
    for (int j = 0; j < view.extent_int(1); ++j)
      for (int k = 0; k < view.extent_int(2); ++k) work(view.access(i, j, k), i, j, k);
}

/// The View, with the values of value(i, j, k).
template <class View, class Value>
View filled(const View& view, const Value& value) {
  const auto mirror = Kokkos::create_mirror_view(view);
  each_value(mirror, [&](auto& to, auto i, auto j, auto k) { to = value(i, j, k); });
  Kokkos::deep_copy(view, mirror);
  return view;
}

/// The values of a vector, which outlives this, as filled() and becomes() take them.
template <class T>
auto values_of(const std::vector<T>& vector) {
  return [&vector](auto i, auto, auto) { return vector[static_cast<std::size_t>(i)]; };
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

/// The View has one value at first, and exact(i, j, k) after one execution.
template <class View, class Exact>
Check becomes(const View& view, double first, const Exact& exact, double tolerance = 0) {
  return {[=] { Kokkos::deep_copy(view, typename View::value_type(first)); },
          [=] { return largest_error(view, exact); }, tolerance};
}

/// The point (x, y, z) of a cube of points, as they are numbered along x, y and z; -1 if it is not one of them.
inline int point_at(int x, int y, int z, int edge) {
  return std::min({x, y, z}) >= 0 && std::max({x, y, z}) < edge ? (z * edge + y) * edge + x : -1;
}

/// Uniform in [-1, 1).
template <class T = double>
T random_number(std::int64_t i, std::int64_t j) {
  return random::uniform<T>(random::bits_at(20, i, j));
}

/// Collective over the context's communicator. Options are resolved. Throws AgreedError if the largest size does not
/// fit in memory.
std::unique_ptr<miniapp::MiniApp> make_kernels(const Options&, const miniapp::RunContext&);

/// A measure at one size; collective over the bench's communicator.
using Measurement = void(Bench&, std::int64_t size);
Measurement measure_gradient, measure_gram_schmidt, measure_fill, measure_reductions, measure_atomics, measure_mdrange,
    measure_spmv;

/// Collective; waits for nothing where sums do not. The columns of A become those of Q. Each of the K (K + 1) / 2 sums
/// over all ranks is needed by the next kernel.
void modified_gram_schmidt(const Space&, const Matrix& q, const Matrix& r, stepping::GlobalDots&);

} // namespace kontor::kernels

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/check/verification.hpp"

#include "advection/check/exact.hpp"
#include "advection/check/sample.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

namespace kontor::advection {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Local, waits. The greatest of part(initial, item) of so many items; -infinity of none. Each thread of the host has
/// its own function of the initial values.
template <class Part>
double greatest(const Options& options, std::int64_t items, const Part& part) {
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  const auto threads = static_cast<std::int64_t>(Space().concurrency());
  std::vector<config::Function> initial;
  for (std::int64_t t = 0; t < threads; ++t) initial.emplace_back(options.initial);
  std::vector<double> found(initial.size(), -infinity);
  Kokkos::parallel_for("advection/check", Policy(0, threads), [&](std::int64_t t) {
    for (auto item = t; item < items; item += threads) found[t] = std::max(found[t], part(initial[t], item));
  });
  device::fence(Space(), "advection/checked");
  return *std::max_element(found.begin(), found.end());
}

/// The difference, beside `scale`; infinite if a value is not finite.
double difference(double value, double exact, double scale) {
  const double d = std::abs(value - exact) / scale;
  return std::isfinite(d) ? d : infinity;
}

} // namespace

miniapp::Verification verify(const comm::Communicator& ring, const Options& options, const grid::Block& block,
                             const grid::FieldView<double>& field, const std::vector<std::int64_t>& probed,
                             const Kokkos::View<double**>& samples) {
  miniapp::Verification result{.measure =
                                   "largest difference from the exact solution of the scheme, of cells and probes"};
  const comm::Communicator baseline(ring.native(), comm::Options{}); // what is verified takes no part
  const auto first = block.offset[0], cells = block.extents[0];
  // The greatest of so many pieces: judge(own cell, exact value) of all cells of a piece, after these shifts.
  const auto greatest_of_cells = [&](const Sample& pieces, const Shifts& shifts, const auto& judge) {
    return greatest(options, pieces.count(), [&](const config::Function& initial, std::int64_t number) {
      // From the end at which values come in: what is wrong with them is wrong there first.
      const auto piece = options.direction() > 0 ? pieces.at(number) : pieces.all - 1 - pieces.at(number);
      const auto begin = piece * cells_of_piece, end = std::min(begin + cells_of_piece, cells);
      const auto expected = exact(options, initial, shifts, first + begin, first + end);
      double most = -infinity;
      for (auto i = begin; i < end; ++i) most = std::max(most, judge(i, expected[i - begin]));
      return most;
    });
  };

  const Shifts none{0, {1.0}};
  const auto at_start = [&](double sign) {
    return greatest_of_cells({sample_of_pieces(cells, 1).all, cells}, none,
                             [&](std::int64_t, double value) { return sign * value; });
  };
  const auto ends = comm::allreduce(baseline, std::array{at_start(-1), at_start(1)}, comm::ReduceOp::max);
  const double scale = std::max(std::abs(ends[0]), std::abs(ends[1]));
  // A step multiplies, adds and has a rounded 1 - courant: four roundings at most, and the weights have as many. Each
  // rounds to a multiple of the smallest number where values are below the smallest normal one.
  using Limits = std::numeric_limits<double>;
  const double rounding = 4 * (Limits::epsilon() + Limits::denorm_min() / scale);
  result.tolerance = options.courant == 1 ? 0 : rounding * static_cast<double>(options.steps);
  const double variation = ends[0] + ends[1]; // of the values at the start
  if (!(variation > 4 * result.tolerance * scale))
    return miniapp::inconclusive(
        fmt::format("problem.initial varies by {:.3g} only, so nothing that went wrong would show", variation));

  const auto shifts = shifts_after(options.steps, options.courant);
  const auto own = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  const auto before = grid::padding<double>(block)[0];
  const double of_cells =
      greatest_of_cells(sample_of_pieces(cells, static_cast<std::int64_t>(shifts.weights.size())), shifts,
                        [&](std::int64_t i, double value) { return difference(own(0, 0, before + i), value, scale); });

  const auto gathered = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), samples);
  const ProbeSample sample(options.samples(), static_cast<std::int64_t>(probed.size()));
  const auto of_gathering = [&](const config::Function& initial, std::int64_t number) {
    const auto gathering = options.samples() - 1 - sample.gatherings.at(number); // the last one is the first
    const auto then = shifts_after((gathering + 1) * options.probe_every, options.courant);
    double most = 0;
    for (auto p = number % sample.probes.every; p < sample.probes.all; p += sample.probes.every)
      most = std::max(
          most, difference(gathered(gathering, p), exact(options, initial, then, probed[p], probed[p] + 1)[0], scale));
    return most;
  };
  const double of_probes = greatest(options, sample.gatherings.count(), of_gathering);
  result.error = comm::allreduce(baseline, std::max(of_cells, of_probes), comm::ReduceOp::max);
  return result;
}

} // namespace kontor::advection

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

/// The cells and probes of a rank on the host, and which of them are compared.
class Comparison {
 public:
  Comparison(const comm::Communicator& ring, const Options& options, const grid::Block& block,
             const grid::FieldView<double>& field, std::uint64_t seed)
      : comm_(ring.native(), comm::Options{}), options_(options), first_(block.offset[0]), cells_(block.extents[0]),
        before_(grid::padding<double>(block)[0]), pieces_((cells_ + cells_of_piece - 1) / cells_of_piece),
        own_(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field)),
        random_(miniapp::generator_of(seed, ring.rank())) {}

  const comm::Communicator& comm() const { return comm_; } // what is verified takes no part
  std::mt19937_64& random() { return random_; }

  /// Local. The greatest of judge(own value, right one, that of the start), by the right ones after these shifts, of
  /// the cells of at most so many random pieces and of those at the ends, which are counted.
  template <class Judge>
  double greatest_of_cells(std::int64_t most, const Shifts& shifts, const Judge& judge) {
    const auto pieces = sample_with_ends(pieces_, most, random_);
    compared_ = 0;
    for (const auto piece : pieces) compared_ += std::min(cells_of_piece, cells_ - piece * cells_of_piece);
    return greatest(options_, static_cast<std::int64_t>(pieces.size()), [&](const config::Function& initial, auto n) {
      const auto begin = pieces[n] * cells_of_piece, end = std::min(begin + cells_of_piece, cells_);
      const auto expected = exact(options_, initial, shifts, first_ + begin, first_ + end);
      const auto start = shifts.first == 0 && shifts.weights.size() == 1
                             ? expected
                             : exact(options_, initial, {0, {1.0}}, first_ + begin, first_ + end);
      double most = -infinity;
      for (auto i = begin; i < end; ++i)
        most = std::max(most, judge(own_(0, 0, before_ + i), expected[i - begin], start[i - begin]));
      return most;
    });
  }

  /// Collective. What the last greatest_of_cells() has compared, in words.
  std::string words() const {
    return miniapp::words_of_sample(comm::allreduce(comm_, compared_, comm::ReduceOp::sum), options_.cells, "cells");
  }

 private:
  comm::Communicator comm_;
  const Options& options_;
  std::int64_t first_, cells_, before_, pieces_, compared_ = 0;
  device::HostMirror<grid::FieldView<double>> own_;
  std::mt19937_64 random_;
};

} // namespace

miniapp::Verification verify_start(const comm::Communicator& ring, const Options& options, const grid::Block& block,
                                   const grid::FieldView<double>& field, std::uint64_t seed) {
  constexpr std::int64_t pieces = 1;
  Comparison cells(ring, options, block, field, seed);
  const double worst = cells.greatest_of_cells(
      pieces, {0, {1.0}}, [](double own, double, double start) { return difference(own, start, 1); });
  return {.measure = "largest difference of a repeat's start from problem.initial",
          .error = comm::allreduce(cells.comm(), worst, comm::ReduceOp::max),
          .judged = {"start of each repeat: " + cells.words()}};
}

miniapp::Verification verify(const comm::Communicator& ring, const Options& options, const grid::Block& block,
                             const grid::FieldView<double>& field, const std::vector<std::int64_t>& probed,
                             const Kokkos::View<double**>& samples, std::uint64_t seed) {
  miniapp::Verification result{.measure =
                                   "largest difference from the exact solution of the scheme, of cells and probes"};
  Comparison cells(ring, options, block, field, seed);
  const auto& comm = cells.comm();
  const auto at_start = [&](double sign) {
    return cells.greatest_of_cells(options.cells, {0, {1.0}},
                                   [&](double, double, double start) { return sign * start; });
  };
  const auto ends = comm::allreduce(comm, std::array{at_start(-1), at_start(1)}, comm::ReduceOp::max);
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
  const auto weights = static_cast<std::int64_t>(shifts.weights.size());
  const auto most = (std::int64_t{1} << 30) / cells_of_piece / weights; // products of values and weights
  double moved = 0;
  const auto compare = [&](double own, double value, double) { return difference(own, value, scale); };
  const double of_cells = cells.greatest_of_cells(most, shifts, compare);
  result.judged = {cells.words()};
  moved = cells.greatest_of_cells(most, shifts,
                                  [&](double, double value, double start) { return difference(value, start, scale); });
  moved = comm::allreduce(comm, moved, comm::ReduceOp::max);
  if (!(moved > 4 * std::max(result.tolerance, rounding)))
    return miniapp::inconclusive(
        fmt::format("after {} steps the right answer is the start again, so that no step would "
                    "give it, too; choose other solver.steps",
                    options.steps));

  const auto gathered = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), samples);
  const auto count = static_cast<std::int64_t>(probed.size());
  const auto values = std::clamp<std::int64_t>((std::int64_t{1} << 22) / weights, 100, 10000); // of a rank
  const auto gatherings =
      sample_with_ends(options.samples(), values / std::max<std::int64_t>(1, count), cells.random());
  const auto each = values / std::max<std::int64_t>(1, static_cast<std::int64_t>(gatherings.size()));
  const auto probes = miniapp::sample_numbers(count, std::max<std::int64_t>(1, each), cells.random());
  const double of_probes =
      greatest(options, static_cast<std::int64_t>(gatherings.size()), [&](const config::Function& initial, auto n) {
        const auto gathering = gatherings[n];
        const auto then = shifts_after((gathering + 1) * options.probe_every, options.courant);
        double worst = 0;
        for (const auto p : probes)
          worst = std::max(worst, difference(gathered(gathering, p),
                                             exact(options, initial, then, probed[p], probed[p] + 1)[0], scale));
        return worst;
      });
  if (options.samples() > 0)
    result.judged.push_back(miniapp::words_of_sample(static_cast<std::int64_t>(gatherings.size() * probes.size()),
                                                     options.samples() * count, "probes of a rank"));
  result.error = comm::allreduce(comm, std::max(of_cells, of_probes), comm::ReduceOp::max);
  return result;
}

} // namespace kontor::advection

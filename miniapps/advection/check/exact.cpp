// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/check/exact.hpp"

#include "grid/for_cells.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

#include <complex>
#include <numbers>

namespace kontor::advection {
namespace {

using Complex = std::complex<double>;

/// e^(2 pi i numerator / denominator), whose turns are taken off exactly.
Complex turned(std::int64_t numerator, std::int64_t denominator) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(numerator % denominator) /
                             static_cast<double>(denominator));
}

/// What a step multiplies the amplitude by.
Complex factor(const Options& o) {
  double rate[2];
  for (const int a : {0, 1}) rate[a] = std::abs(o.velocity[a]) * static_cast<double>(o.cells[a]) / o.size[a];
  Complex g = 1;
  for (const int a : {0, 1})
    g -= o.courant * rate[a] / (rate[0] + rate[1]) *
         (1.0 - turned(o.velocity[a] < 0 ? o.waves[a] : -o.waves[a], o.cells[a]));
  return g;
}

/// The wave along an axis in the middles of own cells.
std::vector<Complex> along(const Options& o, const grid::Block& block, int axis) {
  std::vector<Complex> wave;
  for (std::int64_t i = 0; i < block.extents[axis]; ++i)
    wave.push_back(turned(o.waves[axis] * (2 * (block.offset[axis] + i) + 1), 2 * o.cells[axis]));
  return wave;
}

/// Rounding of so many steps (less than 8 epsilon each, as the scheme does not amplify it), of a place and of the
/// check.
double tolerance(const Options& o, std::int64_t steps) {
  const auto waves = static_cast<double>(o.waves[0] + o.waves[1] + 1);
  return 16 * std::numeric_limits<double>::epsilon() * (static_cast<double>(steps) + 2 * std::numbers::pi * waves);
}

/// Collective. The largest difference from a wave of that amplitude.
miniapp::Verification compare_with(const comm::Communicator& comm, const Options& o, const grid::Block& block,
                                   const grid::FieldView<double>& field, const Complex& amplitude) {
  const auto x = along(o, block, 0), y = along(o, block, 1);
  const double error = grid::largest_difference(field, block, [&](std::int64_t i, std::int64_t j, std::int64_t) {
    const auto& at = x[static_cast<std::size_t>(i - block.offset[0])];
    const auto row = amplitude * y[static_cast<std::size_t>(j - block.offset[1])];
    return row.real() * at.imag() + row.imag() * at.real();
  });
  return {.measure = "largest difference from the exact solution of the scheme",
          .error = comm::allreduce(comm, error, comm::ReduceOp::max),
          .judged = {fmt::format("all {} cells", o.cells[0] * o.cells[1])}};
}

} // namespace

miniapp::Verification compare_start(const comm::Communicator& comm, const Options& o, const grid::Block& block,
                                    const grid::FieldView<double>& field) {
  auto result = compare_with(comm, o, block, field, 1);
  result.measure = "largest difference of a repeat's start from the deck's sine";
  result.tolerance = tolerance(o, 0);
  result.judged = {"start of each repeat: all cells"};
  return result;
}

miniapp::Verification compare(const comm::Communicator& comm, const Options& o, const grid::Block& block,
                              const grid::FieldView<double>& field) {
  constexpr double clear = 1e3; // tolerances
  const auto g = factor(o), amplitude = std::pow(g, static_cast<double>(o.steps));
  const double bound = tolerance(o, o.steps);
  if (!(std::abs(amplitude) > clear * bound))
    return miniapp::inconclusive(fmt::format(
        "the scheme leaves {:.3g} of the wave; choose fewer solver.steps or problem.waves", std::abs(amplitude)));
  if (!(std::abs(amplitude - 1.0) > clear * bound))
    return miniapp::inconclusive("the right answer is the start again; choose other solver.steps");
  auto result = compare_with(comm, o, block, field, amplitude);
  result.tolerance = bound;
  return result;
}

} // namespace kontor::advection

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/functions.hpp"

#include "machine/user_error.hpp"

#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kontor::grid {

void FiniteCheck::operator()(const config::Expression& formula, std::span<const double> values,
                             std::span<const double> x, double y, double z, double t) {
  if (problem_) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && allowed_(values[i])) continue;
    problem_ =
        fmt::format("{} {} is {} at x = {:.6g}, y = {:.6g}, z = {:.6g}, t = {:.6g}; it must be "
                    "{} in the whole domain",
                    formula.location().text(), config::in_quotes(formula.text()), values[i], x[i], y, z, t, words_);
    return;
  }
}

void FiniteCheck::agree(const comm::Communicator& comm) const {
  miniapp::agree_on_user_error(comm, problem_, "E-DECK-EXPRESSION");
}

std::vector<double> coordinates_along_x(const Block& block) {
  std::vector<double> x(static_cast<std::size_t>(block.extents[0]));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = block.coordinate(0, static_cast<std::int64_t>(i));
  return x;
}

} // namespace kontor::grid

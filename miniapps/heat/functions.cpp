// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/functions.hpp"

#include <kontor/config/error.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>

namespace kontor::heat {

void FiniteCheck::operator()(std::string_view key, std::string_view formula, std::span<const double> values,
                             std::span<const double> x, double y, double z, double t) {
  if (problem_) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    problem_ = fmt::format("{} {} is {} at x = {:.6g}, y = {:.6g}, z = {:.6g}, t = {:.6g}; it must be "
                           "finite in the whole domain",
                           key, config::in_quotes(formula), values[i], x[i], y, z, t);
    return;
  }
}

void FiniteCheck::agree(const comm::Communicator& comm) const {
  try {
    comm.agree(problem_);
  } catch (const comm::AgreedError& error) {
    throw config::Error({error.what()});
  }
}

std::vector<double> centres_along_x(const Block& block, const Box& box) {
  std::vector<double> x;
  x.reserve(static_cast<std::size_t>(box.end[0] - box.begin[0]));
  for (auto i = box.begin[0]; i < box.end[0]; ++i) x.push_back(block.centre(0, i));
  return x;
}

} // namespace kontor::heat

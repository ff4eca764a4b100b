// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/memory.hpp"

#include "grid/field.hpp"

namespace kontor::advection {

std::vector<miniapp::Allocation> views_of_rank(const Options& options, const grid::Block& block) {
  const auto extents = grid::field_extents<double>(block);
  const double field = static_cast<double>(extents[2]) * sizeof(double);
  const double samples =
      static_cast<double>(options.samples()) * static_cast<double>(options.probes) * sizeof(double);
  return {{"advection/u", field}, {"advection/v", field}, {"advection/samples", samples}};
}

} // namespace kontor::advection

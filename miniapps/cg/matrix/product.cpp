// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/product.hpp"

#include "stepping/norm_parts.hpp"

#include <fmt/format.h>

namespace kontor::cg {

void add_parts(const Space& instance, double* parts, std::int64_t count, double* sum, int* zero) {
  // combine() counts places; here is one only, so the next one is always place 0.
  stepping::combine(instance, parts, count, stepping::Norm::l2, {sum, zero, 1});
}

std::optional<std::string> excess_of_positions(int rank, LocalIndex rows, std::int64_t positions) {
  if (positions <= most_positions) return {};
  return fmt::format("rank {} has {} rows, for which solver.format numbers {} positions, padding included; the "
                     "most is {}: use more ranks, or solver.format: csr [E-DECK-RANKS]",
                     rank, rows, positions, most_positions);
}

} // namespace kontor::cg

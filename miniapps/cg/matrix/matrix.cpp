// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/matrix.hpp"

#include <fmt/format.h>

namespace kontor::cg {

std::optional<std::string> excess_of_positions(int rank, LocalIndex rows, std::int64_t positions) {
  if (positions <= most_positions) return {};
  return fmt::format("rank {} has {} rows, for which solver.format numbers {} positions, padding included; the "
                     "most is {}: use more ranks, or solver.format: csr [E-DECK-RANKS]",
                     rank, rows, positions, most_positions);
}

} // namespace kontor::cg

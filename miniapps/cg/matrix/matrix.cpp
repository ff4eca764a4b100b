// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/compressed_rows.hpp"
#include "cg/matrix/product.hpp"
#include "stepping/norm_parts.hpp"

#include <fmt/format.h>

namespace kontor::cg {

std::int64_t sum_counts(const Offsets& counts) {
  std::int64_t entries = 0;
  Kokkos::parallel_scan(
      "cg/offsets", Policy(0, static_cast<std::int64_t>(counts.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum, bool last) {
        sum += counts(i);
        if (last) counts(i) = sum;
      },
      entries);
  return entries;
}

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

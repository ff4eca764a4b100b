// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/compressed_rows.hpp"

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

} // namespace kontor::cg

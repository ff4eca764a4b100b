// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/compressed_rows.hpp"

namespace kontor::cg {
namespace {

struct SumCounts {
  Offsets offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool last) const {
    sum += offsets(i);
    if (last) offsets(i) = sum;
  }
};

} // namespace

std::int64_t sum_counts(const Offsets& counts) {
  const auto size = static_cast<std::int64_t>(counts.extent(0));
  Kokkos::parallel_scan("cg/offsets", Policy(0, size), SumCounts{counts});
  std::int64_t entries = 0;
  Kokkos::deep_copy(entries, Kokkos::subview(counts, size - 1));
  return entries;
}

} // namespace kontor::cg

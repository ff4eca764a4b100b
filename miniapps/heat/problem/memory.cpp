// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/problem/memory.hpp"

#include "grid/functions.hpp"

namespace kontor::heat {
namespace {

double bytes_of(const Index3& extents, std::size_t scalar) {
  const auto extent = [&](int axis) { return static_cast<double>(extents[axis]); };
  return static_cast<double>(scalar) * extent(0) * extent(1) * extent(2);
}

} // namespace

std::vector<miniapp::Allocation> views_of_rank(const Options& options, const Block& block) {
  return miniapp::with_scalar(options.precision, [&]<class T>(T) -> std::vector<miniapp::Allocation> {
    const double field = bytes_of(grid::field_extents<T>(block), sizeof(T));
    const bool sourced = !grid::DeckFunction(options.source).zero();
    return {{"heat/u", field},
            {"heat/v", field},
            {"heat/source", sourced ? bytes_of(block.extents, sizeof(T)) : 0}};
  });
}

} // namespace kontor::heat

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/view_buffer.hpp>

#include <array>
#include <cstddef>

namespace kontor::comm {

/// Local. The extents of a View of rank 0 to 8, in elements; what is known at compile time included.
template <ViewType View>
std::array<std::size_t, static_cast<std::size_t>(View::rank)> extents(const View& view) {
  std::array<std::size_t, static_cast<std::size_t>(View::rank)> result{};
  for (std::size_t d = 0; d < result.size(); ++d) result[d] = view.extent(d);
  return result;
}

} // namespace kontor::comm

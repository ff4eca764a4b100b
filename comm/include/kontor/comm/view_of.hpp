// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <memory>
#include <type_traits>

namespace kontor::comm {

/// Local. The values of a std::vector, std::array or std::span in host memory as a View, which does not own them: they
/// stay where they are for as long as the View, or what it was given to, is in use.
template <std::ranges::contiguous_range Range>
requires(std::is_lvalue_reference_v<Range> || std::ranges::borrowed_range<Range>) auto view_of(Range&& range) {
  using Value = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
  return Kokkos::View<Value*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      std::ranges::data(range), static_cast<std::size_t>(std::ranges::size(range)));
}

} // namespace kontor::comm

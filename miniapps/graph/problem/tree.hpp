// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace kontor::graph {

inline constexpr std::int64_t unreached = -1; ///< as a parent and as a level

/// What a search has found, of this rank's vertices. The root is its own parent.
struct Tree {
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> parent;
  Kokkos::View<std::int32_t*, Kokkos::HostSpace> level;

  explicit Tree(std::int64_t size)
      : parent("graph/parents", static_cast<std::size_t>(size)), level("graph/levels", static_cast<std::size_t>(size)) {
  }
  void clear() const {
    Kokkos::deep_copy(parent, unreached);
    Kokkos::deep_copy(level, static_cast<std::int32_t>(unreached));
  }
};

} // namespace kontor::graph

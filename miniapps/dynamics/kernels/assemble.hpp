// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/fields.hpp"

#include <Kokkos_ScatterView.hpp>

/// Sums of the elements' forces at their nodes, in double precision.
namespace kontor::dynamics {

/// The rows of forces at each node, in the order of the elements' numbers.
struct ForceRows {
  static constexpr int ahead = 64; ///< entries that follow the last one, which are fetched early and not used
  Kokkos::View<LocalIndex*> first; ///< where those of a node begin: (nodes + 1)
  Kokkos::View<LocalIndex*> row;   ///< of ElementFields::force
};

/// How sums are made. `gather` reads the corners of a node in order, so that sums have the same bits on any ranks; the
/// others add from elements, by atomic updates or by Kokkos::ScatterView.
enum class Assembly { gather, atomic, scatter_view };

/// Local; queued on `instance`. The sums at nodes [begin, end).
template <class T>
void assemble(const Space& instance, LocalIndex begin, LocalIndex end, const NodeFields<T>& nodes,
              const ElementFields<T>& elements, const ForceRows& corners) {
  Kokkos::parallel_for(
      "dynamics/assemble", range(instance, begin, end), KOKKOS_LAMBDA(LocalIndex node) {
        double sum[3] = {0, 0, 0};
        for (auto n = corners.first(node); n < corners.first(node + 1); ++n) {
          const auto row = corners.row(n);
          prefetch_on_host(&elements.force(corners.row(n + ForceRows::ahead), 0));
          for (int i = 0; i < 3; ++i) sum[i] += static_cast<double>(elements.force(row, i));
        }
        for (int i = 0; i < 3; ++i) nodes.force(node, i) = sum[i];
      });
}

/// Sums that are added to by elements: kept by Kokkos::ScatterView as the space does it best, or by atomic updates.
template <bool atomic>
struct ScatteredSums;
template <>
struct ScatteredSums<false> {
  using type = Kokkos::Experimental::ScatterView<double* [3], Kokkos::LayoutRight, Space>;
};
template <>
struct ScatteredSums<true> {
  using type =
      Kokkos::Experimental::ScatterView<double* [3], Kokkos::LayoutRight, Space, Kokkos::Experimental::ScatterSum,
                                        Kokkos::Experimental::ScatterNonDuplicated,
                                        Kokkos::Experimental::ScatterAtomic>;
};

/// Local; queued on `instance`. Adds the forces of the elements in these blocks to the sums at their nodes.
template <class T, class Sums>
void scatter(const Space& instance, const Blocks& blocks, const ElementFields<T>& elements, const Sums& sums) {
  Kokkos::parallel_for(
      "dynamics/scatter", range(instance, blocks.begin, blocks.end), KOKKOS_LAMBDA(LocalIndex block) {
        const auto access = sums.access();
        for (int l = 0; l < width<T>; ++l)
          for (int corner = 0; corner < 8 && elements.counts(block, l); ++corner)
            for (int i = 0; i < 3; ++i)
              access(elements.corner(block, corner, l), i) +=
                  static_cast<double>(elements.force(elements.corner_row(block * width<T> + l, corner), i));
      });
}

} // namespace kontor::dynamics

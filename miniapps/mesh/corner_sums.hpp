// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/local_mesh.hpp"
#include "mesh/views.hpp"

#include <Kokkos_ScatterView.hpp>

#include <numeric>

namespace kontor::mesh {

/// The corners of elements at each node, in the order of the elements' numbers, which is the same on any ranks.
struct NodeCorners {
  std::vector<LocalIndex> first;  ///< where those of a node begin: nodes + 1
  std::vector<LocalIndex> corner; ///< 8 local element + corner of it
};

/// Local.
inline NodeCorners corners_of_nodes(const LocalMesh& mesh) {
  NodeCorners result{std::vector<LocalIndex>(mesh.node.size() + 1), std::vector<LocalIndex>(8 * mesh.element.size())};
  std::vector<LocalIndex> by_number(mesh.element.size());
  std::iota(by_number.begin(), by_number.end(), 0);
  std::ranges::sort(by_number, {}, [&](LocalIndex e) { return mesh.element[e]; });
  for (const auto& corners : mesh.corner)
    for (const auto node : corners) ++result.first[node + 1];
  std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
  auto next = result.first;
  for (const auto e : by_number)
    for (int c = 0; c < 8; ++c) result.corner[next[mesh.corner[e][c]]++] = 8 * e + c;
  return result;
}

/// How sums are made. `gather` reads the corners of a node in order, so that sums have the same bits on any ranks; the
/// others add from elements, by atomic updates or by Kokkos::ScatterView.
enum class Assembly { gather, atomic, scatter_view };

using BlockCorners = Kokkos::View<LocalIndex***>; ///< blocks x 8 x width: nodes

inline constexpr int rows_ahead = 64; ///< rows that follow the last one of all nodes: fetched early and not used

/// Rows in no order are fetched early on hosts; devices hide that by other threads.
template <class T>
KOKKOS_INLINE_FUNCTION void prefetch_on_host([[maybe_unused]] const T* address) {
  if constexpr (device::kernels_on_host) __builtin_prefetch(address);
}

/// Local; queued on `instance`. The sums at nodes [begin, end), each of the rows from first(node) to first(node + 1).
template <class T>
void gather_corners(const Space& instance, LocalIndex begin, LocalIndex end, const Kokkos::View<LocalIndex*>& first,
                    const Kokkos::View<LocalIndex*>& rows, const Kokkos::View<T* [3]>& of_corners,
                    const NodeView<double* [3]>& sums) {
  Kokkos::parallel_for(
      "mesh/gather corners", range(instance, begin, end), KOKKOS_LAMBDA(LocalIndex node) {
        double sum[3] = {0, 0, 0};
        for (auto n = first(node); n < first(node + 1); ++n) {
          const auto row = rows(n);
          prefetch_on_host(&of_corners(rows(n + rows_ahead), 0));
          for (int i = 0; i < 3; ++i) sum[i] += static_cast<double>(of_corners(row, i));
        }
        for (int i = 0; i < 3; ++i) sums(node, i) = sum[i];
      });
}

/// Local; queued on `instance`. Adds what the elements in these blocks have at corners to the sums at their nodes.
template <class T, class ScatterView>
void scatter_corners(const Space& instance, const element::Blocks& blocks, const element::BlockOrder<T>& order,
                     const BlockCorners& corner, const Kokkos::View<T* [3]>& of_corners, const ScatterView& sums) {
  Kokkos::parallel_for(
      "mesh/scatter corners", range(instance, blocks), KOKKOS_LAMBDA(LocalIndex block) {
        const auto access = sums.access();
        for (int l = 0; l < order.lanes_in(block); ++l)
          for (int c = 0; c < 8; ++c)
            for (int i = 0; i < 3; ++i)
              access(corner(block, c, l), i) +=
                  static_cast<double>(of_corners(element::corner_row(of_corners, block * element::width<T> + l, c), i));
      });
}

/// Sums at nodes of what elements have at their corners, in double precision.
template <class T>
class CornerSums {
 public:
  CornerSums() = default;
  /// Local. `of_corners`: a row of numbers at each corner of each slot of the order, and room for no element else.
  CornerSums(Assembly assembly, const NodeCorners& of_nodes, const element::BlockOrder<T>& order,
             const BlockCorners& corner, const Kokkos::View<T* [3]>& of_corners, const NodeView<double* [3]>& sums)
      : assembly_(assembly), order_(order), corner_(corner), of_corners_(of_corners), sums_(sums),
        first_("mesh/first corner", of_nodes.first.size()),
        rows_("mesh/node corners", of_nodes.corner.size() + rows_ahead) {
    set_on_host(first_, [&](const auto& first) { std::ranges::copy(of_nodes.first, first.data()); });
    set_on_host(rows_, [&](const auto& row) {
      std::fill_n(row.data(), row.size(), 0);
      std::ranges::transform(of_nodes.corner, row.data(), [&](LocalIndex corner) {
        return element::corner_row(of_corners, order.slot(corner / 8), corner % 8);
      });
    });
    if (assembly == Assembly::atomic) atomic_ = Atomic(sums);
    if (assembly == Assembly::scatter_view) scattered_ = Scattered(sums);
  }

  /// Local; queued on `instance`. Before the first add().
  void begin(const Space& instance) const {
    if (assembly_ != Assembly::gather) Kokkos::deep_copy(instance, sums_, 0.0);
  }
  /// Local; queued on `instance`. Adds what these elements have; gathered, at nodes [begin, end), that is all they get.
  void add(const Space& instance, const element::Blocks& blocks, LocalIndex begin, LocalIndex end) {
    if (assembly_ == Assembly::gather) return gather_corners(instance, begin, end, first_, rows_, of_corners_, sums_);
    if (assembly_ == Assembly::atomic) return scatter_corners(instance, blocks, order_, corner_, of_corners_, atomic_);
    scattered_.reset_except(instance, sums_);
    scatter_corners(instance, blocks, order_, corner_, of_corners_, scattered_);
    scattered_.contribute_into(instance, sums_);
  }

 private:
  using Atomic =
      Kokkos::Experimental::ScatterView<double* [3], Kokkos::LayoutRight, Space, Kokkos::Experimental::ScatterSum,
                                        Kokkos::Experimental::ScatterNonDuplicated,
                                        Kokkos::Experimental::ScatterAtomic>;
  using Scattered = Kokkos::Experimental::ScatterView<double* [3], Kokkos::LayoutRight, Space>;

  Assembly assembly_ = Assembly::gather;
  element::BlockOrder<T> order_;
  BlockCorners corner_;
  Kokkos::View<T* [3]> of_corners_;
  NodeView<double* [3]> sums_;
  Kokkos::View<LocalIndex*> first_, rows_;
  Atomic atomic_;
  Scattered scattered_; ///< as the space does it best
};

} // namespace kontor::mesh

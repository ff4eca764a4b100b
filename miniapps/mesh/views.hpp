// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "element/blocks.hpp"
#include "mesh/directory.hpp"
#include "stepping/device.hpp"

/// Numbers of nodes and elements where kernels run, and what hosts and kernels do with them.
namespace kontor::mesh {

using element::Space;

template <class T>
using NodeView = Kokkos::View<T, Kokkos::LayoutRight>; ///< nodes x numbers: those of a node lie together

/// A copy that the host can read.
template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Local. Sets a View by way of the host, where set(copy) writes all of it.
template <class View, class Set>
void set_on_host(const View& view, const Set& set) {
  const auto copy = Kokkos::create_mirror_view(view);
  set(copy);
  if constexpr (!device::on_host<View>) Kokkos::deep_copy(view, copy); // or the copy is the View
  Kokkos::fence();
}

/// Local. Sets the numbers of nodes: value(node, i).
template <class View, class Value>
void set_nodes(const View& view, const Value& value) {
  set_on_host(view, [&](const auto& copy) {
    for (LocalIndex n = 0; n < static_cast<LocalIndex>(view.extent(0)); ++n)
      for (int i = 0; i < static_cast<int>(view.extent(1)); ++i) copy(n, i) = value(n, i);
  });
}

/// Local. Sets the numbers of elements: value(element, i).
template <class View, class T, class Value>
void set_elements(const View& view, const element::BlockOrder<T>& order, const Value& value) {
  set_on_host(view, [&](const auto& copy) {
    for (LocalIndex e = 0; e < order.elements; ++e)
      order.each_lane(e, [&](LocalIndex block, int l) {
        for (int i = 0; i < static_cast<int>(view.extent(1)); ++i) element::lane(copy(block, i), l) = value(e, i);
      });
  });
}

/// Nodes [begin, end), or blocks.
inline auto range(const Space& instance, LocalIndex begin, LocalIndex end) {
  return stepping::by_value_at_launch(Kokkos::RangePolicy<Space, Kokkos::IndexType<LocalIndex>>(instance, begin, end));
}
inline auto range(const Space& instance, const element::Blocks& blocks) {
  return range(instance, blocks.begin, blocks.end);
}

} // namespace kontor::mesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "watched.hpp"

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <array>
#include <utility>

/// Views to send and to receive into, with all the memory around them.
namespace kontor::comm::test {

template <class View>
inline constexpr auto rank_of = static_cast<std::size_t>(View::rank);

template <std::size_t rank>
using Index = std::array<std::size_t, rank>;

template <class View>
Index<rank_of<View>> extents_of(const View& view) {
  Index<rank_of<View>> extents{};
  for (std::size_t d = 0; d < rank_of<View>; ++d) extents[d] = view.extent(d);
  return extents;
}

template <class T>
void scramble(std::span<T> memory, std::uint64_t seed) {
  scramble(std::as_writable_bytes(memory), seed);
}

/// A View and the whole array that it is part of.
template <class View>
struct Field {
  using value_type = typename View::non_const_value_type;
  View view;
  std::span<value_type> memory;
};

template <class View>
Watched watched(const Field<View>& field, Order order = Order::logical) {
  using T = typename Field<View>::value_type;
  std::size_t strides[9] = {};
  field.view.stride(strides);
  auto places = element_offsets(extents_of(field.view), strides, order);
  for (auto& place : places)
    place = (place + static_cast<std::size_t>(field.view.data() - field.memory.data())) * sizeof(T);
  return {field.view.label(), sizeof(T), std::as_writable_bytes(field.memory), std::move(places)};
}

template <class T, std::size_t rank>
struct PointerTo {
  using type = typename PointerTo<T, rank - 1>::type*;
};
template <class T>
struct PointerTo<T, 0> {
  using type = T;
};

/// A View that owns memory of the host.
template <class T, class Layout, std::size_t rank>
using Owning = Kokkos::View<typename PointerTo<T, rank>::type, Layout, Kokkos::HostSpace>;

/// LayoutStride: the dimension in the middle runs fastest, and only every second element is used.
template <class Layout, std::size_t rank>
Layout layout_of(const Index<rank>& extents) {
  Layout layout;
  std::size_t stride = 2;
  for (std::size_t n = 0; n < rank; ++n) {
    const auto d = (n + rank / 2) % rank;
    layout.dimension[d] = extents[d];
    if constexpr (std::is_same_v<Layout, Kokkos::LayoutStride>) layout.stride[d] = stride;
    stride *= std::max<std::size_t>(extents[d], 1);
  }
  return layout;
}

template <class View>
auto field_of(const View& view) {
  return Field<View>{view, {view.data(), view.span()}};
}

/// A whole array.
template <class T, class Layout, std::size_t rank>
auto whole(const std::string& label, const Index<rank>& extents) {
  using View = Owning<T, Layout, rank>;
  const auto properties = Kokkos::view_alloc(label, Kokkos::WithoutInitializing);
  if constexpr (rank == 0)
    return field_of(View(properties));
  else
    return field_of(View(properties, layout_of<Layout>(extents)));
}

/// A View of few types: that of a whole array, whichever subview it is.
template <class View>
using AsWhole = Owning<typename View::value_type, typename View::array_layout, rank_of<View>>;

/// A part of an array that goes one element further on every side.
template <class T, class Layout, std::size_t rank>
auto inside(const std::string& label, Index<rank> extents) {
  if constexpr (rank == 0) {
    const auto around = whole<T, Layout>(label, Index<1>{3});
    const auto view = Kokkos::subview(around.view, 1);
    return Field<AsWhole<std::remove_const_t<decltype(view)>>>{view, around.memory};
  } else {
    for (auto& extent : extents) extent += 2;
    const auto around = whole<T, Layout>(label, extents);
    const auto view = [&]<std::size_t... d>(std::index_sequence<d...>) {
      return Kokkos::subview(around.view, std::pair<std::size_t, std::size_t>(1, extents[d] - 1)...);
    }
    (std::make_index_sequence<rank>());
    return Field<AsWhole<std::remove_const_t<decltype(view)>>>{view, around.memory};
  }
}

/// As whole() and inside(), with the layout as a value: one type for all, which takes less time to compile.
enum class Storage { left, right, odd, inside_left, inside_right, inside_odd };
inline constexpr auto all_storage = {Storage::left,        Storage::right,        Storage::odd,
                                     Storage::inside_left, Storage::inside_right, Storage::inside_odd};

template <class T, std::size_t rank>
auto stored(Storage storage, const std::string& label, Index<rank> extents) {
  using View = Owning<T, Kokkos::LayoutStride, rank>;
  const bool inside = storage >= Storage::inside_left;
  for (auto& extent : extents) extent += inside ? 2 : 0;
  auto layout = layout_of<Kokkos::LayoutStride>(extents);
  const int kind = static_cast<int>(storage) % 3;
  std::size_t stride = 1;
  for (std::size_t n = 0; n < rank && kind < 2; ++n) {
    const auto d = kind == 0 ? n : rank - 1 - n;
    layout.stride[d] = stride;
    stride *= std::max<std::size_t>(extents[d], 1);
  }
  const auto all = field_of(View(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), layout));
  const auto part = [&]<std::size_t... d>(std::index_sequence<d...>) {
    const std::size_t first = inside ? 1 : 0;
    return View(Kokkos::subview(all.view, std::pair<std::size_t, std::size_t>(first, extents[d] - first)...));
  };
  return Field<View>{part(std::make_index_sequence<rank>()), all.memory};
}

} // namespace kontor::comm::test

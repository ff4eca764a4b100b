// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/buffer.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <complex>
#include <memory>
#include <type_traits>
#include <utility>

/// From a typed View to the erased Buffer: the only way down into the layer.
namespace kontor::comm {

/// Whether T is a complex number, Kokkos' or std's.
template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<Kokkos::complex<T>> : std::true_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};

/// Whether a copy of T's bytes is a copy of T. Types whose assignment the library has written count too, if all that
/// they hold does: std::pair, arrays.
template <class T>
struct IsTransferable : std::bool_constant<std::is_trivially_copyable_v<T> || IsComplex<T>::value> {};
template <class A, class B>
struct IsTransferable<std::pair<A, B>> : std::bool_constant<IsTransferable<A>::value && IsTransferable<B>::value> {};
template <class T, std::size_t count>
struct IsTransferable<std::array<T, count>> : IsTransferable<T> {};
template <class T, std::size_t count>
struct IsTransferable<Kokkos::Array<T, count>> : IsTransferable<T> {};

/// What the elements of a View that travels may be: numbers, complex numbers, plain structs, pairs and arrays of such.
template <class T>
concept Transferable = IsTransferable<T>::value;

/// A Kokkos::View, of any rank, layout and space.
template <class T>
concept ViewType = Kokkos::is_view<T>::value;

/// What T is to the layer; structs travel as bytes.
template <Transferable T>
constexpr Scalar scalar_of() {
  constexpr auto size = static_cast<std::uint32_t>(sizeof(T));
  if constexpr (IsComplex<T>::value)
    return {ScalarKind::complex, size};
  else if constexpr (std::is_floating_point_v<T>)
    return {ScalarKind::floating, size};
  else if constexpr (std::is_same_v<T, bool>)
    return {ScalarKind::boolean, size};
  else if constexpr (std::is_integral_v<T>)
    return {std::is_signed_v<T> ? ScalarKind::signed_integer : ScalarKind::unsigned_integer, size};
  else
    return {ScalarKind::bytes, size};
}

/// Whether host code can reach the memory of the View.
template <ViewType View>
constexpr MemoryKind memory_of() {
  return Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible ? MemoryKind::host
                                                                                                : MemoryKind::device;
}

/// Whether each element lies in one piece. Kokkos before 5 stores a View of Kokkos::Array as a View of numbers with a
/// dimension more, which is the same if that dimension runs fastest.
template <ViewType View>
inline constexpr bool has_whole_elements =
    std::is_same_v<decltype(std::declval<View>().data()), typename View::value_type*> ||
    static_cast<int>(View::rank) == 0 || std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>;

/// The first element of the View.
template <ViewType View>
auto* data_of(const View& view) {
  using T = typename View::non_const_value_type;
  return const_cast<T*>(reinterpret_cast<const T*>(view.data()));
}

/// The extents and strides of the View.
template <ViewType View>
Shape shape_of(const View& view) {
  constexpr int rank = static_cast<int>(View::rank);
  Shape shape;
  shape.rank = rank;
  for (int d = 0; d < rank; ++d) {
    shape.extents[d] = static_cast<std::int64_t>(view.extent(d));
    shape.strides[d] = static_cast<std::int64_t>(view.stride(d));
  }
  return shape;
}

/// The View without its type. Shares nothing: the View must outlive the Buffer.
template <ViewType View>
Buffer to_buffer(const View& view) {
  using T = typename View::non_const_value_type;
  return {data_of(view), scalar_of<T>(), shape_of(view), memory_of<View>(), view.label()};
}

namespace detail {

struct Owner {
  virtual ~Owner() = default;
};
template <class T>
struct OwnerOf final : Owner {
  explicit OwnerOf(const T& owner) : copy(owner) {}
  T copy;
};

/// A copy, which shares ownership of what is shared. std::make_shared would take longer to compile.
template <class T>
std::shared_ptr<void> keep(const T& shared) {
  auto* const owner = new OwnerOf<T>(shared);
  return {std::shared_ptr<Owner>(std::unique_ptr<Owner>(owner)), &owner->copy};
}

} // namespace detail
} // namespace kontor::comm

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/buffer.hpp>

#include <Kokkos_Core.hpp>

#include <complex>
#include <type_traits>

/// From a typed View to the erased Buffer: the only way down into the layer.
namespace kontor::comm {

/// Whether T is a complex number, Kokkos' or std's.
template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<Kokkos::complex<T>> : std::true_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};

/// What the elements of a View that travels may be: numbers, complex numbers, plain structs.
template <class T>
concept Transferable = std::is_trivially_copyable_v<T> || IsComplex<T>::value;

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
  else if constexpr (std::is_integral_v<T>)
    return {std::is_signed_v<T> ? ScalarKind::signed_integer : ScalarKind::unsigned_integer, size};
  else
    return {ScalarKind::bytes, size};
}

/// Whether host code can reach the memory of the View.
template <ViewType View>
constexpr MemoryKind memory_of() {
  return Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible
             ? MemoryKind::host
             : MemoryKind::device;
}

/// The extents and strides of the View.
template <ViewType View>
Shape shape_of(const View& view) {
  constexpr int rank = static_cast<int>(View::rank);
  Shape shape;
  shape.rank = rank;
  if constexpr (rank > 0) {
    std::size_t strides[max_rank + 1]; // Kokkos writes one more than the rank
    view.stride(strides);
    for (int d = 0; d < rank; ++d) {
      shape.extents[d] = static_cast<std::int64_t>(view.extent(d));
      shape.strides[d] = static_cast<std::int64_t>(strides[d]);
    }
  }
  return shape;
}

/// The View without its type. Shares nothing: the View must outlive the Buffer.
template <ViewType View>
Buffer to_buffer(const View& view) {
  using T = typename View::non_const_value_type;
  static_assert(Transferable<T>, "kontor::comm: the elements of a View that travels between ranks must be "
                                 "trivially copyable (numbers, complex numbers, plain structs)");
  return {const_cast<T*>(view.data()), scalar_of<T>(), shape_of(view), memory_of<View>(), view.label()};
}

} // namespace kontor::comm

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"
#include "machine/huge_pages.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <string>

/// Fields are made, and their values copied.
namespace kontor::grid {

/// Bytes of a field.
template <class T>
double field_bytes(const Block& block) {
  const auto extents = field_extents<T>(block);
  return sizeof(T) * static_cast<double>(extents[0]) * static_cast<double>(extents[1]) *
         static_cast<double>(extents[2]);
}

/// Zero-initialised. On a host each thread writes the rows that it has in loops over y, first: a page lies near the
/// thread that touches it first, and Kokkos initialises by one thread.
template <class T>
FieldView<T> make_field(const std::string& label, const Block& block) {
  using Space = typename FieldView<T>::execution_space;
  const auto extents = field_extents<T>(block);
  if constexpr (device::kernels_on_host) {
    const FieldView<T> field(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), extents[0], extents[1],
                             extents[2]);
    miniapp::use_huge_pages(field);
    Kokkos::parallel_for("grid/first touch", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, extents[1]),
                         [=](std::int64_t j) {
                           for (std::int64_t k = 0; k < extents[0]; ++k) std::fill_n(&field(k, j, 0), extents[2], T(0));
                         });
    return field;
  } else {
    return FieldView<T>(label, extents[0], extents[1], extents[2]);
  }
}

/// Room for as many values in host memory: the values themselves where the host reaches them.
template <class T>
HostBlockView<T> room_on_host(const BlockView<T>& values) {
  if constexpr (device::on_host<BlockView<T>>)
    return values;
  else
    return HostBlockView<T>(Kokkos::view_alloc("grid/values on host", Kokkos::WithoutInitializing), values.extent(0),
                            values.extent(1), values.extent(2));
}

/// to(k, j, i) = from(k, j, i), on the default instance.
template <class To, class From>
void copy_values(const To& to, const From& from) {
  using Policy = Kokkos::MDRangePolicy<typename To::execution_space,
                                       Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                                       Kokkos::IndexType<std::int64_t>>;
  const auto extent = [&](int d) { return static_cast<std::int64_t>(to.extent(d)); };
  Kokkos::parallel_for(
      "grid/copy", Policy({0, 0, 0}, {extent(0), extent(1), extent(2)}),
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i) { to(k, j, i) = from(k, j, i); });
}

} // namespace kontor::grid

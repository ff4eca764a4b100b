// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

/// A page of memory lies near the thread that touches it first. Kokkos 4 initialises Views of numbers by the calling
/// thread alone.
namespace kontor::miniapp {

/// Local. Zeros in the memory of the default space. On a host each thread writes those that it has in loops over all
/// elements.
template <class T>
Kokkos::View<T*> zeroed(const std::string& label, std::size_t count) {
  using View = Kokkos::View<T*>;
  using Space = typename View::execution_space;
  if constexpr (device::on_host<Space>) {
    const View view(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), count);
    T* const values = view.data();
    Kokkos::parallel_for("machine/first touch", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, count),
                         [=](std::int64_t i) { values[i] = T(); });
    return view;
  } else {
    return View(label, count);
  }
}

} // namespace kontor::miniapp

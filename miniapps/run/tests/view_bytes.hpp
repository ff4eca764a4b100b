// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace kontor::miniapp::test {

/// The most bytes of Views in the memory of kernels that are there at once during `work`, beside those before.
template <class Work>
double most_view_bytes(const Work& work) {
  namespace Tools = Kokkos::Tools::Experimental;
  static double now, most; // Kokkos' callbacks have no data of their own
  now = most = 0;
  static const auto add = [](const Kokkos::Tools::SpaceHandle& space, double bytes) {
    if (std::string(space.name) == Kokkos::DefaultExecutionSpace::memory_space::name()) now += bytes;
    most = std::max(most, now);
  };
  Tools::set_allocate_data_callback([](const Kokkos::Tools::SpaceHandle space, const char*, const void*,
                                       const std::uint64_t bytes) { add(space, static_cast<double>(bytes)); });
  Tools::set_deallocate_data_callback([](const Kokkos::Tools::SpaceHandle space, const char*, const void*,
                                         const std::uint64_t bytes) { add(space, -static_cast<double>(bytes)); });
  work();
  Tools::set_allocate_data_callback(nullptr);
  Tools::set_deallocate_data_callback(nullptr);
  return most;
}

} // namespace kontor::miniapp::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>
#include <type_traits>

namespace kontor::miniapp {

#ifdef KONTOR_SMPI
/// Ranks are simulated by SimGrid's SMPI (preset smpi), whose clock does not see the time of kernels.
inline constexpr bool simulated = true;

/// Local. Waits, in the simulator's time, as long as the file that KONTOR_KERNEL_TIMES names says
/// (lab/model/kernel_times.cpp). Throws comm::UsageError if it cannot be read, or does not have the kernel.
void add_compute_time(std::string_view kernel, double units, double size);
#else
inline constexpr bool simulated = false;
inline void add_compute_time(std::string_view, double, double) {}
#endif

/// Local. Does the work, which is `units` of the `size` that this rank has, and returns what it returns. Simulated
/// ranks add its compute time.
template <class Work>
auto compute(std::string_view kernel, double units, double size, const Work& work) {
  if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
    work();
    add_compute_time(kernel, units, size);
  } else {
    const auto result = work();
    add_compute_time(kernel, units, size);
    return result;
  }
}

} // namespace kontor::miniapp

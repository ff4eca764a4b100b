// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

/// Runs on simulated ranks (SimGrid's SMPI, preset smpi). The simulator's clock does not see the time of kernels,
/// whether they run or not. A file gives the compute time of each kernel, and a run adds it to that clock.
namespace kontor::miniapp {

#ifdef KONTOR_SMPI
inline constexpr bool simulated = true;

/// Local. Whether compute time is added and kernels do not run: KONTOR_CHARGES in the environment names the file.
/// Throws comm::UsageError if it cannot be read. Its lines are "<kernel> <size> <seconds>": what a kernel takes on a
/// rank that has so many cells, rows or flops.
bool compute_time_is_simulated();

/// Local. Waits, in the simulator's time, as long as `units` of the `size` that this rank has take. Seconds of sizes
/// between two of the file lie on a line; outside, a unit takes what it takes at the nearest one. Throws
/// comm::UsageError if the file does not have the kernel.
void add_compute_time(std::string_view kernel, double units, double size);

/// Local. What is said of the computation in records; in words.
std::string words_of_simulation();
#else
inline constexpr bool simulated = false;
constexpr bool compute_time_is_simulated() { return false; }
inline void add_compute_time(std::string_view, double, double) {}
inline std::string words_of_simulation() { return {}; }
#endif

/// Local. Does the work, which is `units` of the `size` that this rank has, and returns what it returns; or adds its
/// compute time, and returns nothing or 0.
template <class Work>
auto compute(std::string_view kernel, double units, double size, const Work& work) {
  if constexpr (simulated) {
    if (compute_time_is_simulated()) {
      add_compute_time(kernel, units, size);
      return std::invoke_result_t<Work>();
    }
  }
  return work();
}

} // namespace kontor::miniapp

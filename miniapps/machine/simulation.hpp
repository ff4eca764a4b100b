// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

/// Runs on simulated ranks (SimGrid's SMPI, preset smpi). What kernels compute takes no time there, whether
/// they are made or not. So a simulated run is told by a file what they would take, and charges that.
namespace kontor::miniapp {

#ifdef KONTOR_SMPI
inline constexpr bool simulated = true;

/// Local. Whether kernels are charged and not made: KONTOR_CHARGES in the environment names a file. Throws
/// comm::UsageError if it cannot be read. Its lines are "<kernel> <size> <seconds>": what a kernel takes on a
/// rank that has so many cells, rows or flops.
bool charges_computation();

/// Local. Waits, in the simulator's time, as long as `units` of the `size` that this rank has take. Seconds
/// of sizes between two of the file lie on a line; outside, a unit takes what it takes at the nearest one.
/// Throws comm::UsageError if the file does not have the kernel.
void charge(std::string_view kernel, double units, double size);

/// Local. What is said of the computation in records; in words.
std::string words_of_simulation();
#else
inline constexpr bool simulated = false;
constexpr bool charges_computation() {
  return false;
}
inline void charge(std::string_view, double, double) {}
inline std::string words_of_simulation() {
  return {};
}
#endif

/// Local. Does the work, which is `units` of the `size` that this rank has, and returns what it returns; or
/// charges it, and returns nothing or 0.
template <class Work>
auto compute(std::string_view kernel, double units, double size, const Work& work) {
  if constexpr (simulated) {
    if (charges_computation()) {
      charge(kernel, units, size);
      return std::invoke_result_t<Work>();
    }
  }
  return work();
}

} // namespace kontor::miniapp

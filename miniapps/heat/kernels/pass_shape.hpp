// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kontor::heat {

/// How a pass of several sweeps is made; which is fastest depends on the machine, so a trial chooses.
struct PassShape {
  int sweeps = 1;
  // On a host.
  bool streaming = false;         ///< non-temporal stores
  std::uintptr_t prefetch = 0;    ///< bytes ahead of use; 0: none
  std::int64_t cache = 384 << 10; ///< bytes of a core's cache that a tile may fill
  // On a device.
  int of_kernel = 1; ///< sweeps of one kernel, at most: a power of two
  int rows = 256;    ///< rows or planes of a team

  /// Rows of a band of 3-D whose three planes fit there, of so many cells.
  std::int64_t band(std::int64_t cells, std::size_t bytes_of_cell) const {
    return std::max<std::int64_t>(4, cache / static_cast<std::int64_t>(bytes_of_cell) / 3 / cells);
  }
  /// How many of `left` sweeps the next kernel makes.
  int next_kernel(int left) const {
    int most = of_kernel;
    while (most > left) most /= 2;
    return most;
  }
  /// How many kernels so many sweeps take.
  int kernels(int left) const {
    int count = 0;
    for (; left > 0; ++count) left -= next_kernel(left);
    return count;
  }
};

/// Bytes; streaming stores wait for memory unless what is read has been asked for long before
/// (lab/results/heat-cpu.md).
inline constexpr std::uintptr_t streaming_prefetch = 16384;

/// The most sweeps that a kernel of a device can make.
constexpr int most_of_kernel(int dimensions) { return dimensions == 3 ? 2 : 8; }

} // namespace kontor::heat

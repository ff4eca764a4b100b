// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/gpu.hpp>

#include <cstddef>
#include <mutex>
#include <vector>

namespace kontor::comm::detail {

/// Pinned host memory for device Views on their way, kept to be used again: to make it takes longer than most messages.
class PinnedPool {
 public:
  using Block = Kokkos::View<unsigned char*, device::PinnedSpace>;

  /// Local; any thread. At least so many bytes, the caller's as long as it keeps the block or a copy of it.
  Block take(std::size_t bytes);

 private:
  std::mutex taking_;
  std::vector<Block> blocks_; ///< free are those that only this one refers to
};

} // namespace kontor::comm::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/views/pinned_pool.hpp>

#include <bit>

namespace kontor::comm::detail {

PinnedPool::Block PinnedPool::take(std::size_t bytes) {
  const std::lock_guard lock(taking_);
  Block* best = nullptr; // free; the smallest that is large enough, else the largest
  for (auto& block : blocks_) {
    if (block.use_count() > 1) continue;
    const bool enough = block.size() >= bytes;
    const bool best_enough = best && best->size() >= bytes;
    if (!best || (enough && !best_enough) || (enough == best_enough && (block.size() < best->size()) == enough))
      best = &block;
  }
  if (!best) best = &blocks_.emplace_back();
  if (best->size() < bytes) {
    constexpr std::size_t least = 4096;
    const auto properties = Kokkos::view_alloc(std::string("comm/pinned"), Kokkos::WithoutInitializing);
    *best = Block(); // before the larger one is made
    *best = Block(properties, std::bit_ceil(bytes < least ? least : bytes));
  }
  return *best;
}

} // namespace kontor::comm::detail

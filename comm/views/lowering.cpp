// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "views/kokkos_executor.hpp"

#include <kontor/comm/views/lowering.hpp>

namespace kontor::comm::detail {

using HostSpace = Kokkos::DefaultHostExecutionSpace;

struct Lowered::Copy {
  std::shared_ptr<void> memory;
  PinnedPool::Block pinned; ///< instead
  Piece piece;
};

void Lowered::place(const Executor& executor, const Buffer& view, const WireOrder& order, bool accessible,
                    PinnedPool* pool) {
  if (accessible && is_contiguous(view.shape, order)) return; // Kokkos does not see through extents of 1
  const auto bytes = static_cast<std::size_t>(count_) * scalar_.size;
  Copy copy;
  if (pool)
    data_ = (copy.pinned = pool->take(bytes)).data();
  else
    data_ = (copy.memory = executor.allocate(Room::space, bytes, Contents::any)).get();
  copy.piece = piece_of(view, data_, order);
  copy_ = std::make_shared<const Copy>(std::move(copy));
}

void Lowered::queue(const Executor& executor, PackDirection direction) const {
  if (copy_) executor.copy(copy_->piece, direction);
}

void LoweredHost::place(const Lowering& /*how*/, const Buffer& view, const WireOrder& order) {
  constexpr bool accessible = true;
  Lowered::place(KokkosExecutor(HostSpace()), view, order, accessible, nullptr);
}

bool LoweredHost::queue(PackDirection direction) const {
  Lowered::queue(KokkosExecutor(HostSpace()), direction);
  return copied();
}

void LoweredHost::copy(PackDirection direction) const {
  queue(direction);
  device::fence(HostSpace(), "comm/packed");
}

} // namespace kontor::comm::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/views/lowering.hpp>

namespace kontor::comm::detail {

using HostSpace = Kokkos::DefaultHostExecutionSpace;

struct LoweredHost::Copy {
  Kokkos::View<unsigned char*, Kokkos::HostSpace> memory;
  Piece piece;
};

void LoweredHost::place(const Lowering& how, const char* operation, const Buffer& view) {
  const auto order = storage_order(view.shape);
  if (how.packing == Packing::none && !is_contiguous(view.shape, order)) refuse_strided(operation, view);
  place(how, view, order);
}

void LoweredHost::place(const Lowering& /*how*/, const Buffer& view, const WireOrder& order) {
  if (is_contiguous(view.shape, order)) return; // Kokkos does not see through extents of 1
  const auto properties = Kokkos::view_alloc(std::string("comm/packed"), Kokkos::WithoutInitializing);
  const auto bytes = static_cast<std::size_t>(count_) * scalar_.size;
  Copy copy{Kokkos::View<unsigned char*, Kokkos::HostSpace>(properties, bytes),
            {view.data, nullptr, loop_nest(view.shape, order), scalar_.size}};
  copy.piece.packed = data_ = copy.memory.data();
  copy_ = std::make_shared<const Copy>(std::move(copy));
}

void LoweredHost::queue(PackDirection direction) const {
  const HostSpace instance;
  if (direction == PackDirection::pack)
    copy_piece<PackDirection::pack>(instance, copy_->piece);
  else
    copy_piece<PackDirection::unpack>(instance, copy_->piece);
}

void LoweredHost::copy(PackDirection direction) const {
  queue(direction);
  device::fence(HostSpace(), "comm/packed");
}

} // namespace kontor::comm::detail

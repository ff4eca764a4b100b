// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/halo.hpp"
#include "pingpong/payload.hpp"

#include <cstdint>
#include <vector>

namespace kontor::pingpong {

/// A block of size^dimensions cells with a layer of ghost cells, and its halo on a process grid that is
/// closed along all axes. Where an axis is not cut the rank sends to itself.
template <class T>
class HaloBlock {
 public:
  using Field = grid::FieldView<T>;

  /// Local.
  HaloBlock(const comm::Communicator& cartesian, std::int64_t size)
      : block_(make_block(cartesian, size)), field_(grid::make_field<T>("pingpong/block", block_)),
        slots_(grid::halo_slots(cartesian, block_, grid::across_faces(block_.dimensions),
                                grid::ToItself::yes)) {}

  /// Collective. By that communicator, which numbers its ranks as the one given first.
  grid::Halo<T> exchange(const comm::Communicator& comm) const {
    return grid::make_halo(comm, slots_, block_, field_, "pingpong/halo");
  }

  /// Cells that are sent.
  std::int64_t halo_cells() const {
    std::int64_t cells = 0;
    for (const auto& slot : slots_) cells += slot.sent.size();
    return cells;
  }
  std::int64_t messages() const { return static_cast<std::int64_t>(slots_.size()); }

  void fill(int seed, int rank) const {
    for (const auto& slot : slots_) fill_view(view(slot.sent), field_.data(), seed, rank);
  }

  /// Blocks are alike: a neighbour's layer lies as far from its origin as the one that this rank sends back.
  std::int64_t wrong(int seed) const {
    std::int64_t count = 0;
    for (const auto& slot : slots_) {
      const auto received = view(slot.received);
      count +=
          wrong_in_view(received, received.data(), view(slot.sent).data() - field_.data(), seed, slot.source);
    }
    return count;
  }

 private:
  static grid::Block make_block(const comm::Communicator& cartesian, std::int64_t size) {
    grid::UniformGrid whole;
    for (auto dim = cartesian.dims().rbegin(); dim != cartesian.dims().rend(); ++dim)
      whole.extents.push_back(*dim * size);
    return grid::make_block(whole, cartesian);
  }
  auto view(const grid::Box& box) const { return grid::view_of(field_, block_, box); }

  grid::Block block_;
  Field field_;
  std::vector<grid::HaloSlot> slots_;
};

} // namespace kontor::pingpong

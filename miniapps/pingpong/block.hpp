// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/halo.hpp"
#include "pingpong/payload.hpp"

#include <cstdint>
#include <vector>

namespace kontor::pingpong {

/// A block of size^dimensions cells with a layer of ghost cells, its fields, and their halo on a process grid
/// that is periodic along all axes. Where an axis is not cut the rank sends to itself.
template <class T>
class HaloBlock {
 public:
  using Field = grid::FieldView<T>;

  /// Local.
  HaloBlock(const comm::Communicator& cartesian, std::int64_t size, std::int64_t fields)
      : block_(make_block(cartesian, size)),
        slots_(
            grid::halo_slots(cartesian, block_, grid::across_faces(block_.dimensions), grid::ToItself::yes)) {
    for (std::int64_t f = 0; f < fields; ++f)
      fields_.push_back(grid::make_field<T>("pingpong/block", block_));
  }

  /// Collective. By that communicator, which numbers its ranks as the one given first. All fields in one
  /// exchange.
  grid::Halo<T> exchange(const comm::Communicator& comm) const {
    grid::Halo<T> halo(comm, "pingpong/halo");
    for (const auto& field : fields_)
      for (const auto& slot : slots_)
        halo.add(view(field, slot.sent), slot.destination, view(field, slot.received), slot.source);
    halo.commit();
    return halo;
  }

  /// Cells that are sent, of all fields.
  std::int64_t halo_cells() const {
    std::int64_t cells = 0;
    for (const auto& slot : slots_) cells += slot.sent.size();
    return cells * static_cast<std::int64_t>(fields_.size());
  }

  void fill(int seed, int rank) const {
    for (const auto& field : fields_)
      for (const auto& slot : slots_)
        fill_view(view(field, slot.sent), field.data(), seed, sender(rank, field));
  }

  /// Blocks are alike: a neighbour's layer lies as far from its origin as the one that this rank sends back.
  std::int64_t wrong(int seed) const {
    std::int64_t count = 0;
    for (const auto& field : fields_)
      for (const auto& slot : slots_) {
        const auto received = view(field, slot.received);
        count += wrong_in_view(received, received.data(), view(field, slot.sent).data() - field.data(), seed,
                               sender(slot.source, field));
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
  auto view(const Field& field, const grid::Box& box) const { return grid::view_of(field, block_, box); }
  /// Each field of each rank has values of its own.
  int sender(int rank, const Field& field) const {
    return rank * static_cast<int>(fields_.size()) + static_cast<int>(&field - fields_.data());
  }

  grid::Block block_;
  std::vector<grid::HaloSlot> slots_;
  std::vector<Field> fields_;
};

} // namespace kontor::pingpong

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"
#include "pingpong/payload.hpp"

#include <kontor/comm/exchange.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kontor::pingpong {

/// A block of size^dimensions cells with a layer of ghost cells, as a View (z, y, x), and the faces of its
/// halo: each outermost own layer goes to the neighbour there, into its ghost cells.
template <class T>
class Block {
 public:
  using Field = KernelView<T, 3>;
  using Layer = Kokkos::View<T***, Kokkos::LayoutStride, typename Field::memory_space>;

  Block(const comm::Communicator& grid, std::int64_t size)
      : dimensions_(static_cast<int>(grid.dims().size())) {
    const auto n = static_cast<std::size_t>(size);
    const auto extent = [&](int axis) { return has(axis) ? n + 2 : 1; };
    field_ = Field(Kokkos::view_alloc(std::string("pingpong/block"), Kokkos::WithoutInitializing), extent(0),
                   extent(1), extent(2));
    for (int axis = 3 - dimensions_; axis < 3; ++axis) {
      const int dim = axis - (3 - dimensions_);
      const int lower = grid.neighbour(dim, -1);
      const int upper = grid.neighbour(dim, 1);
      slots_.push_back({layer(axis, 1, n), lower, layer(axis, n + 1, n), upper});
      slots_.push_back({layer(axis, n, n), upper, layer(axis, 0, n), lower});
    }
  }

  comm::Exchange<Field> exchange(const comm::Communicator& grid) const {
    comm::Exchange<Field> exchange(grid, "pingpong/halo");
    for (const auto& s : slots_) exchange.add(s.sent, s.destination, s.received, s.source);
    exchange.commit();
    return exchange;
  }

  /// Cells that are sent.
  std::int64_t halo_cells() const {
    std::int64_t cells = 0;
    for (const auto& s : slots_) cells += static_cast<std::int64_t>(s.sent.size());
    return cells;
  }
  std::int64_t messages() const { return static_cast<std::int64_t>(slots_.size()); }

  void fill(int seed, int rank) const {
    for (const auto& s : slots_) fill_view(s.sent, field_.data(), seed, rank);
  }

  /// Blocks are alike: a neighbour's layer lies as far from its origin as the one that this rank sends back.
  std::int64_t wrong(int seed) const {
    std::int64_t count = 0;
    for (const auto& s : slots_)
      count += wrong_in_view(s.received, s.received.data(), s.sent.data() - field_.data(), seed, s.source);
    return count;
  }

 private:
  struct Slot {
    Layer sent;
    int destination;
    Layer received;
    int source;
  };

  bool has(int axis) const { return axis >= 3 - dimensions_; }

  /// The own cells of all axes but one, at `place` of that one.
  Layer layer(int axis, std::size_t place, std::size_t n) const {
    const auto range = [&](int a) {
      if (a == axis) return std::pair(place, place + 1);
      return has(a) ? std::pair<std::size_t, std::size_t>(1, n + 1)
                    : std::pair<std::size_t, std::size_t>(0, 1);
    };
    return Kokkos::subview(field_, range(0), range(1), range(2));
  }

  int dimensions_;
  Field field_;
  std::vector<Slot> slots_;
};

} // namespace kontor::pingpong

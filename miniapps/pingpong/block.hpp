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
  using Field = HostView<T, 3>;
  using Layer = Kokkos::View<T***, Kokkos::LayoutStride, Kokkos::HostSpace>;

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
    for (const auto& s : slots_)
      each_cell(s.sent, [&](std::size_t i, std::size_t j, std::size_t k) {
        s.sent(i, j, k) = payload_value<T>(index(s.sent, i, j, k), seed, rank);
      });
  }

  std::int64_t wrong(int seed) const {
    std::int64_t count = 0;
    for (const auto& s : slots_)
      each_cell(s.received, [&](std::size_t i, std::size_t j, std::size_t k) {
        count += s.received(i, j, k) != payload_value<T>(index(s.sent, i, j, k), seed, s.source);
      });
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

  /// Of a cell in the block; blocks are alike, so also of the cell that a neighbour sends from there.
  std::int64_t index(const Layer& layer, std::size_t i, std::size_t j, std::size_t k) const {
    return &layer(i, j, k) - field_.data();
  }

  template <class Visit>
  static void each_cell(const Layer& layer, const Visit& visit) {
    for (std::size_t i = 0; i < layer.extent(0); ++i)
      for (std::size_t j = 0; j < layer.extent(1); ++j)
        for (std::size_t k = 0; k < layer.extent(2); ++k) visit(i, j, k);
  }

  int dimensions_;
  Field field_;
  std::vector<Slot> slots_;
};

} // namespace kontor::pingpong

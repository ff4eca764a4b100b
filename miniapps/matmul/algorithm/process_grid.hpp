// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/panels.hpp"
#include "matmul/problem/matrix.hpp"
#include "run/mini_app.hpp"
#include "run/record/exchange_record.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange.hpp>

#include <optional>

namespace kontor::matmul {

/// The communicator of a run's exchanges, of all ranks. What is left to `auto` is chosen by the first one that is made,
/// and is the same for all others.
class ChosenMethod {
 public:
  /// Local. Refers to `all`.
  explicit ChosenMethod(const comm::Communicator& all) : all_(all) {}

  /// Local. For the next exchange.
  const comm::Communicator& comm() const { return chosen_ ? *chosen_ : all_; }

  /// Collective over all ranks. Commits an exchange of comm().
  template <class T>
  void commit(comm::Exchange<Buffer<T>>& exchange) {
    exchange.commit();
    if (choice_) return;
    choice_ = {exchange.chosen(), exchange.timed_methods(), miniapp::packing_used(all_, exchange)};
    if (choice_->candidates.size() > 1) chosen_.emplace(all_.native(), choice_->chosen);
  }

  /// Local. For the record; none: nothing is exchanged.
  const std::optional<miniapp::ExchangeChoice>& choice() const { return choice_; }

 private:
  const comm::Communicator& all_;
  std::optional<comm::Communicator> chosen_;
  std::optional<miniapp::ExchangeChoice> choice_;
};

/// Collective. A step of an exchange.
template <class T>
void run(comm::Exchange<Buffer<T>>& exchange) {
  exchange.start();
  exchange.finish();
}

/// Ranks of a row, of a column or of a line through the layers, in their order. What they exchange goes by the
/// communicator of all ranks: patterns that make windows would else make them in several groups at once, which Open MPI
/// 4.1 confuses.
struct RingRanks {
  ChosenMethod& method;
  std::vector<int> ranks; ///< as the communicator numbers them
  int place = 0;          ///< of this rank among them

  int size() const { return static_cast<int>(ranks.size()); }
  /// The rank so many places further, around the end.
  int rank(int displacement) const {
    return ranks[static_cast<std::size_t>(((place + displacement) % size() + size()) % size())];
  }
};

/// The ranks as layers of a process grid, and groups of them. Ranks are numbered in the
/// order layer, row, column, the last varying fastest.
struct ProcessGrid {
  GridShape shape;
  comm::Communicator all;         ///< Cartesian: layer, row, column; rows and columns are rings
  comm::Communicator row;         ///< those of this row, a ring
  comm::Communicator column;      ///< those of this column, a ring
  comm::Communicator layer_group; ///< those at this place of all layers
  GridPlace place;

  /// Collective. Throws UsageError unless the shape has as many ranks as the communicator.
  ProcessGrid(const comm::Communicator& comm, const GridShape& grid)
      : shape(grid), all(comm, {grid.layers, grid.rows, grid.columns}, {false, true, true}),
        row(all.sub({false, false, true})), column(all.sub({false, true, false})),
        layer_group(all.sub({true, false, false})), place{all.coordinates()[0], all.coordinates()[1],
                                                          all.coordinates()[2]} {}

  /// Local. The ranks that differ in one coordinate: 0 layer, 1 row, 2 column.
  RingRanks line(int coordinate, ChosenMethod& method) const {
    RingRanks line{method, {}, all.coordinates()[coordinate]};
    auto at = all.coordinates();
    for (at[coordinate] = 0; at[coordinate] < all.dims()[coordinate]; ++at[coordinate])
      line.ranks.push_back(all.rank_at(at));
    return line;
  }
  RingRanks ring_of_row(ChosenMethod& method) const { return line(2, method); }
  RingRanks ring_of_column(ChosenMethod& method) const { return line(1, method); }
  RingRanks ring_of_layers(ChosenMethod& method) const { return line(0, method); }
};

} // namespace kontor::matmul

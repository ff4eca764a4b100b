// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/executor.hpp>
#include <kontor/comm/with_counts.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// An all-to-all for many ranks and short messages: as in KaMPIng (T. N. Uhl et al., SC 2024).
/// Ranks form a grid of about sqrt(p) columns; a message goes to its receiver's column along the row of its sender, and
/// from there along the column. So a rank has about 2 sqrt(p) partners where alltoallv() has p, and every element
/// travels twice. Where the last row is incomplete, its j-th rank sends along row j.
namespace kontor::comm {

/// The rows and columns of a communicator's ranks. Movable.
class AlltoallGrid {
 public:
  /// Collective. Two MPI_Comm_split.
  explicit AlltoallGrid(const Communicator&);

  /// All of them.
  const Communicator& comm() const { return comm_; }
  /// The ranks that this one exchanges with in the first hop.
  const Communicator& row() const { return row_; }
  /// Those of the second hop.
  const Communicator& column() const { return column_; }
  /// How many ranks a full row has.
  int columns() const { return columns_; }
  /// Those that have all columns.
  int full_rows() const { return comm_.size() / columns_; }
  /// Also counts an incomplete one.
  int rows() const { return (comm_.size() + columns_ - 1) / columns_; }

 private:
  Communicator comm_;
  int columns_;
  Communicator row_;
  Communicator column_;
};

namespace detail {

/// `count` elements from one place to another.
struct Block {
  std::int64_t from;
  std::int64_t to;
  std::int64_t count;
};

/// Collective. How many elements travel in each hop, and how they are ordered before, between and after them: blocks in
/// the order of `to`, end to end.
struct GridPlan {
  GridPlan(const AlltoallGrid&, const Counts& send_counts, std::size_t size, const std::string& label);
  std::vector<Block> before, between, after;
  Counts row_sends, row_receives, column_sends, column_receives, received;
};

/// Copies the blocks, by one kernel; they are there on return.
void move_blocks(const Executor&, const Buffer& from, const Buffer& to, const std::vector<Block>&);

} // namespace detail

/// Collective. What alltoallv_with_counts() does on grid.comm(), along the grid. `in` has rank 1. Throws CallError if
/// the counts are not those of `in`; at check level `cross_rank` UsageError on every rank. MPI_Alltoall and
/// MPI_Alltoallv, on row and on column.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> alltoallv_with_counts(const AlltoallGrid& grid, const In& in, const Counts& send_counts,
                                                  Received<Out> into = {},
                                                  const typename detail::SpaceOf<In, Out>::type& instance = {}) {
  static_assert(static_cast<int>(In::rank) == 1, "kontor::comm: a View that goes along a grid is of rank 1");
  const detail::GridPlan plan(grid, send_counts, in.size(), in.label());
  const auto executor = executor_of(instance);
  const auto move = [&](const auto& from, const Out& to, const std::vector<detail::Block>& blocks) {
    detail::move_blocks(*executor, to_buffer(from), to_buffer(to), blocks);
  };
  const auto room_for = [](const Counts& counts) {
    Received<Out> room;
    room.resize("comm/grid", counts);
    return room.data;
  };
  const auto by_column = room_for(plan.row_sends);
  move(in, by_column, plan.before);
  const auto from_row = room_for(plan.row_receives);
  alltoallv({grid.row(), instance}, by_column, plan.row_sends, from_row, plan.row_receives);
  const auto by_row = room_for(plan.column_sends);
  move(from_row, by_row, plan.between);
  const auto from_column = room_for(plan.column_receives);
  alltoallv({grid.column(), instance}, by_row, plan.column_sends, from_column, plan.column_receives);
  into.resize(in.label(), plan.received);
  move(from_column, into.data, plan.after);
  return into;
}

} // namespace kontor::comm

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "collectives/perform.hpp"

#include <kontor/comm/alltoall_grid.hpp>
#include <kontor/comm/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace kontor::comm {
namespace {

/// Such that there are at least as many full rows as columns.
int columns_of(int ranks) {
  int columns = static_cast<int>(std::sqrt(ranks));
  while (columns * columns > ranks) --columns;
  while ((columns + 1) * (columns + 1) <= ranks) ++columns;
  return columns;
}

/// The row along which a rank sends.
int row_of(int rank, int ranks, int columns) {
  return rank / columns < ranks / columns ? rank / columns : rank % columns;
}

void check_counts(const Communicator& comm, const Counts& counts, std::size_t size, const std::string& label) {
  const auto view = fmt::format("View '{}'", label);
  detail::check_call(comm, {.operation = "alltoallv_with_counts along a grid",
                            .subject = view,
                            .problem = detail::counts_problem(comm, counts, view, static_cast<std::int64_t>(size))});
}

/// Numbers for the members of a row or a column, as many for each.
class Table {
 public:
  Table(int members, int width)
      : members_(members), width_(width), numbers_("comm/counts", static_cast<std::size_t>(members * width)) {}
  std::int64_t& operator()(int member, int i) const { return numbers_(member * width_ + i); }
  /// Collective: what the members have for this rank.
  Table exchanged(const Communicator& comm) const {
    const Table result(members_, width_);
    alltoall(comm, numbers_, result.numbers_);
    return result;
  }
  Counts totals() const {
    std::vector<std::int64_t> totals;
    for (int m = 0; m < members_; ++m)
      totals.push_back(std::accumulate(&(*this)(m, 0), &(*this)(m, 0) + width_, std::int64_t{0}));
    return totals;
  }
  /// Where the numbers' elements begin, if they lie in the order of members.
  Table offsets() const {
    const Table result(members_, width_);
    std::exclusive_scan(numbers_.data(), numbers_.data() + numbers_.size(), result.numbers_.data(), std::int64_t{0});
    return result;
  }

 private:
  int members_;
  int width_;
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> numbers_;
};

void add(std::vector<detail::Block>& blocks, std::int64_t from, std::int64_t count) {
  const auto to = blocks.empty() ? 0 : blocks.back().to + blocks.back().count;
  if (count > 0) blocks.push_back({from, to, count});
}

} // namespace

AlltoallGrid::AlltoallGrid(const Communicator& comm)
    : comm_(comm.share()), columns_(columns_of(comm.size())),
      row_(comm.split(row_of(comm.rank(), comm.size(), columns_), comm.rank())),
      column_(comm.split(comm.rank() % columns_, comm.rank())) {}

namespace detail {

void move_blocks(const Executor& executor, const Buffer& from, const Buffer& to, const std::vector<Block>& blocks) {
  const auto at = [](const Buffer& buffer, std::int64_t i) {
    return static_cast<char*>(buffer.data) + i * buffer.shape.strides[0] * buffer.scalar.size;
  };
  std::vector<Piece> pieces;
  for (const auto& block : blocks) {
    const auto shape = row_shape(block.count, from.shape.strides[0]);
    const auto loops = loop_nest(shape, storage_order(shape));
    pieces.push_back({at(from, block.from), at(to, block.to), loops, from.scalar.size});
  }
  executor.run(*executor.list(pieces), PackDirection::pack);
  executor.fence("comm/blocks");
}

GridPlan::GridPlan(const AlltoallGrid& grid, const Counts& send_counts, std::size_t size, const std::string& label) {
  const int ranks = grid.comm().size();
  const int columns = grid.columns();
  check_counts(grid.comm(), send_counts, size, label);

  // Along the row: to each column what its ranks get, by their rows. The last member of a row may be a rank of the
  // incomplete one, which forwards nothing.
  const auto offsets = send_counts.offsets();
  const Table to_columns(grid.row().size(), grid.rows());
  for (int column = 0; column < columns; ++column)
    for (int row = 0; row < grid.rows(); ++row) {
      const int rank = row * columns + column;
      if (rank >= ranks) continue;
      to_columns(column, row) = send_counts[rank];
      add(before, offsets[rank], send_counts[rank]);
    }
  const auto to_forward = to_columns.exchanged(grid.row());
  row_sends = to_columns.totals();
  row_receives = to_forward.totals();

  // Along the column: to each row, by members of this one.
  const auto places = to_forward.offsets();
  const Table to_rows(grid.column().size(), columns + 1);
  for (int row = 0; row < grid.column().size(); ++row)
    for (int member = 0; member < grid.row().size(); ++member) {
      to_rows(row, member) = to_forward(member, row);
      add(between, places(member, row), to_forward(member, row));
    }
  const auto arriving = to_rows.exchanged(grid.column());
  column_sends = to_rows.totals();
  column_receives = arriving.totals();

  const auto arrived = arriving.offsets();
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < ranks; ++rank) {
    const bool full = rank / columns < grid.full_rows();
    const int row = row_of(rank, ranks, columns);
    const int member = full ? rank % columns : columns;
    counts.push_back(arriving(row, member));
    add(after, arrived(row, member), counts.back());
  }
  received = counts;
}

} // namespace detail
} // namespace kontor::comm

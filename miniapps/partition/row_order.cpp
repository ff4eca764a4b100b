// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/row_order.hpp"

#include "grid/axis_parts.hpp"

#include <kontor/comm/reductions.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kontor::partition {
namespace {

struct NumberedValue {
  GlobalIndex row;
  double value;
};

template <class T>
using HostView = Kokkos::View<const T*, Kokkos::HostSpace>;

/// Own rows in host memory.
struct HostRows {
  HostView<GlobalIndex> numbers;
  HostView<double> values;
};
template <class T>
HostView<T> on_host(const Kokkos::View<T*>& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Whose block a row is in: the last rank whose block begins at or before it.
int block_of(GlobalIndex row, GlobalIndex rows, int ranks) {
  auto rank = static_cast<int>(static_cast<double>(row) / static_cast<double>(rows) * ranks);
  while (rank + 1 < ranks && grid::part_begin(rows, ranks, rank + 1) <= row) ++rank;
  while (rank > 0 && grid::part_begin(rows, ranks, rank) > row) --rank;
  return rank;
}

/// Where the block of this rank begins, or of one after it.
std::uint64_t first_row(const comm::Communicator& comm, GlobalIndex rows, int after = 0) {
  return static_cast<std::uint64_t>(grid::part_begin(rows, comm.size(), comm.rank() + after));
}

/// in_row_order() of the rows whose number leaves `slice` when divided by `slices`; of its block a rank has every so
/// many, from that of its first row on.
template <std::uint64_t slices>
std::vector<double> slice_of(const comm::Communicator& comm, const Partition& partition, const HostRows& own,
                             std::uint64_t slice) {
  const auto& [numbers, values] = own;
  ByRank<NumberedValue> to;
  for (LocalIndex i = 0; i < partition.own; ++i)
    if (static_cast<std::uint64_t>(numbers(i)) % slices == slice)
      to[block_of(numbers(i), partition.rows, comm.size())].push_back({numbers(i), values(i)});

  const auto begin = first_row(comm, partition.rows) / slices;
  const auto end = (first_row(comm, partition.rows, 1) + slices - 1) / slices;
  std::vector<double> block(end - begin, std::numeric_limits<double>::quiet_NaN());
  for (const auto& [rank, items] : exchange_by_rank(comm, "values in the order of rows", to))
    for (const auto& [row, value] : items) block[static_cast<std::uint64_t>(row) / slices - begin] = value;
  return block;
}

/// Ranks say which rows of a slice they want, and are told the values in the same order.
template <std::uint64_t slices>
void take_values(const comm::Communicator& comm, GlobalIndex rows, const std::vector<double>& block,
                 std::uint64_t slice, const std::vector<GlobalIndex>& wanted, std::vector<double>& values) {
  ByRank<GlobalIndex> asked;
  ByRank<double> told;
  ByRank<std::size_t> places;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (static_cast<std::uint64_t>(wanted[i]) % slices != slice) continue;
    const int rank = block_of(wanted[i], rows, comm.size());
    asked[rank].push_back(wanted[i]);
    places[rank].push_back(i);
  }
  const auto begin = first_row(comm, rows) / slices;
  for (const auto& [rank, numbers] : exchange_by_rank(comm, "rows of ranks", asked))
    for (const auto row : numbers) told[rank].push_back(block[static_cast<std::uint64_t>(row) / slices - begin]);
  for (const auto& [rank, found] : exchange_by_rank(comm, "values of rows", told))
    for (std::size_t n = 0; n < found.size(); ++n) values[places[rank][n]] = found[n];
}

/// See values_of_rows().
std::vector<double> values_of(const comm::Communicator& comm, const Partition& partition, const HostRows& own,
                              const std::vector<GlobalIndex>& wanted) {
  constexpr std::uint64_t slices = 32;
  std::vector<double> values(wanted.size());
  if (comm::allreduce(comm, static_cast<std::int64_t>(wanted.size()), comm::ReduceOp::max) == 0) return values;
  for (std::uint64_t slice = 0; slice < slices; ++slice)
    take_values<slices>(comm, partition.rows, slice_of<slices>(comm, partition, own, slice), slice, wanted, values);
  return values;
}

} // namespace

std::vector<double> in_row_order(const comm::Communicator& comm, const Partition& partition, const Vector& own) {
  return slice_of<1>(comm, partition, {on_host(partition.global), on_host(own)}, 0);
}

std::vector<double> values_of_rows(const comm::Communicator& comm, const Partition& partition, const Vector& own,
                                   const std::vector<GlobalIndex>& wanted) {
  return values_of(comm, partition, {on_host(partition.global), on_host(own)}, wanted);
}

RowLookup::RowLookup(const comm::Communicator& comm, const Partition& partition, const std::vector<GlobalIndex>& wanted)
    : count_(wanted.size()) {
  constexpr std::int64_t rows_of_rank = std::int64_t{1} << 31; // a double holds rank and row of 4 million ranks
  std::vector<double> homes(static_cast<std::size_t>(partition.own));
  std::iota(homes.begin(), homes.end(), static_cast<double>(comm.rank() * rows_of_rank));
  const auto found =
      values_of(comm, partition, {on_host(partition.global), HostView<double>(homes.data(), homes.size())}, wanted);
  ByRank<LocalIndex> asks;
  for (std::size_t n = 0; n < count_; ++n) {
    if (std::isnan(found[n])) continue;
    const auto home = static_cast<std::int64_t>(found[n]);
    const auto rank = static_cast<int>(home / rows_of_rank);
    asks[rank].push_back(static_cast<LocalIndex>(home % rows_of_rank));
    places_[rank].push_back(n);
  }
  asked_ = exchange_by_rank(comm, "rows to look up", asks);
}

std::vector<double> RowLookup::operator()(const comm::Communicator& comm, const Vector& own) const {
  std::vector<double> values(count_, std::numeric_limits<double>::quiet_NaN());
  const auto host = on_host(own);
  ByRank<double> told;
  for (const auto& [rank, rows] : asked_)
    for (const auto row : rows) told[rank].push_back(host(row));
  for (const auto& [rank, found] : exchange_by_rank(comm, "values of rows", told))
    for (std::size_t n = 0; n < found.size(); ++n) values[places_.at(rank)[n]] = found[n];
  return values;
}

void from_row_order(const comm::Communicator& comm, const Partition& partition, const std::vector<double>& block,
                    const Vector& own) {
  const auto numbers = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), partition.global);
  std::vector<double> values(static_cast<std::size_t>(partition.own));
  take_values<1>(comm, partition.rows, block, 0, {numbers.data(), numbers.data() + partition.own}, values);
  const auto host = Kokkos::create_mirror_view(own);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(own, host);
}

} // namespace kontor::partition

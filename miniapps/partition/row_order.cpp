// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/row_order.hpp"

#include "grid/axis_parts.hpp"

#include <kontor/comm/sparse_exchange.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace kontor::partition {
namespace {

struct NumberedValue {
  GlobalIndex row;
  double value;
};

/// Whose block a row is in: the last rank whose block begins at or before it.
int block_of(GlobalIndex row, GlobalIndex rows, int ranks) {
  auto rank = static_cast<int>(static_cast<double>(row) / static_cast<double>(rows) * ranks);
  while (rank + 1 < ranks && grid::part_begin(rows, ranks, rank + 1) <= row) ++rank;
  while (rank > 0 && grid::part_begin(rows, ranks, rank) > row) --rank;
  return rank;
}

template <class Item>
void append(std::vector<std::byte>& bytes, const Item& item) {
  bytes.resize(bytes.size() + sizeof(item));
  std::memcpy(bytes.data() + bytes.size() - sizeof(item), &item, sizeof(item));
}

template <class Item>
Item item_at(const std::vector<std::byte>& bytes, std::size_t number) {
  Item item;
  std::memcpy(&item, bytes.data() + number * sizeof(item), sizeof(item));
  return item;
}

using Messages = std::vector<comm::PeerMessage>;

/// Those that are not empty, by rank.
Messages messages_of(std::vector<std::vector<std::byte>> to) {
  Messages messages;
  for (std::size_t rank = 0; rank < to.size(); ++rank)
    if (!to[rank].empty()) messages.push_back({static_cast<int>(rank), std::move(to[rank])});
  return messages;
}

} // namespace

std::vector<double> in_row_order(const comm::Communicator& comm, const Partition& partition,
                                 const Vector& own) {
  const auto numbers = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), partition.global);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), own);
  std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(comm.size()));
  for (LocalIndex i = 0; i < partition.own; ++i)
    append(to[static_cast<std::size_t>(block_of(numbers(i), partition.rows, comm.size()))],
           NumberedValue{numbers(i), values(i)});

  const auto begin = grid::part_begin(partition.rows, comm.size(), comm.rank());
  const auto end = grid::part_begin(partition.rows, comm.size(), comm.rank() + 1);
  std::vector<double> block(static_cast<std::size_t>(end - begin), std::numeric_limits<double>::quiet_NaN());
  for (const auto& message :
       comm::sparse_exchange(comm, "values in the order of rows", messages_of(std::move(to))))
    for (std::size_t n = 0; n < message.bytes.size() / sizeof(NumberedValue); ++n) {
      const auto item = item_at<NumberedValue>(message.bytes, n);
      block[static_cast<std::size_t>(item.row - begin)] = item.value;
    }
  return block;
}

/// Ranks say which rows they want, and are told the values in the same order.
std::vector<double> values_of_rows(const comm::Communicator& comm, GlobalIndex rows,
                                   const std::vector<double>& block, const std::vector<GlobalIndex>& wanted) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<std::byte>> asked(ranks), told(ranks);
  std::vector<std::vector<std::size_t>> places(ranks);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto rank = static_cast<std::size_t>(block_of(wanted[i], rows, comm.size()));
    append(asked[rank], wanted[i]);
    places[rank].push_back(i);
  }
  const auto begin = grid::part_begin(rows, comm.size(), comm.rank());
  for (const auto& message : comm::sparse_exchange(comm, "rows of ranks", messages_of(std::move(asked))))
    for (std::size_t n = 0; n < message.bytes.size() / sizeof(GlobalIndex); ++n)
      append(told[static_cast<std::size_t>(message.peer)],
             block[static_cast<std::size_t>(item_at<GlobalIndex>(message.bytes, n) - begin)]);
  std::vector<double> values(wanted.size());
  for (const auto& message : comm::sparse_exchange(comm, "values of rows", messages_of(std::move(told)))) {
    const auto& mine = places[static_cast<std::size_t>(message.peer)];
    for (std::size_t n = 0; n < mine.size(); ++n) values[mine[n]] = item_at<double>(message.bytes, n);
  }
  return values;
}

void from_row_order(const comm::Communicator& comm, const Partition& partition,
                    const std::vector<double>& block, const Vector& own) {
  const auto numbers = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), partition.global);
  const auto values =
      values_of_rows(comm, partition.rows, block, {numbers.data(), numbers.data() + partition.own});
  const auto host = Kokkos::create_mirror_view(own);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(own, host);
}

} // namespace kontor::partition

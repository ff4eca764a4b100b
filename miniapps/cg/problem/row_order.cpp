// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/row_order.hpp"

#include <kontor/comm/sparse_exchange.hpp>

#include <cstring>
#include <utility>

namespace kontor::cg {
namespace {

struct NumberedValue {
  GlobalIndex row;
  double value;
};

/// Whose block a row is in: the last rank whose block begins at or before it.
int block_of(GlobalIndex row, GlobalIndex rows, int ranks) {
  auto rank = static_cast<int>(static_cast<double>(row) / static_cast<double>(rows) * ranks);
  while (rank + 1 < ranks && block_begin(rows, rank + 1, ranks) <= row) ++rank;
  while (rank > 0 && block_begin(rows, rank, ranks) > row) --rank;
  return rank;
}

} // namespace

GlobalIndex block_begin(GlobalIndex rows, int rank, int ranks) {
  return rows / ranks * rank + rows % ranks * rank / ranks;
}

std::vector<double> in_row_order(const comm::Communicator& comm, const Partition& partition,
                                 const Vector& own) {
  const auto numbers = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), partition.global);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), own);
  std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(comm.size()));
  for (LocalIndex i = 0; i < partition.own; ++i) {
    const NumberedValue item{numbers(i), values(i)};
    auto& bytes = to[static_cast<std::size_t>(block_of(item.row, partition.rows, comm.size()))];
    bytes.resize(bytes.size() + sizeof(item));
    std::memcpy(bytes.data() + bytes.size() - sizeof(item), &item, sizeof(item));
  }
  std::vector<comm::PeerMessage> messages;
  for (int rank = 0; rank < comm.size(); ++rank)
    if (auto& bytes = to[static_cast<std::size_t>(rank)]; !bytes.empty())
      messages.push_back({rank, std::move(bytes)});

  const auto begin = block_begin(partition.rows, comm.rank(), comm.size());
  const auto end = block_begin(partition.rows, comm.rank() + 1, comm.size());
  std::vector<double> block(static_cast<std::size_t>(end - begin));
  for (const auto& message : comm::sparse_exchange(comm, "values in the order of rows", std::move(messages)))
    for (std::size_t b = 0; b < message.bytes.size(); b += sizeof(NumberedValue)) {
      NumberedValue item;
      std::memcpy(&item, message.bytes.data() + b, sizeof(item));
      block[static_cast<std::size_t>(item.row - begin)] = item.value;
    }
  return block;
}

} // namespace kontor::cg

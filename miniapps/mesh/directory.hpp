// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/by_rank.hpp"

#include <kontor/comm/communicator.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

/// Numbered things, cut evenly among the ranks in the order of their numbers: a place to ask, and the order of files.
namespace kontor::mesh {

using GlobalIndex = std::int64_t;
using LocalIndex = std::int32_t;

struct Directory {
  GlobalIndex count = 0;
  int ranks = 1;

  GlobalIndex share() const { return std::max<GlobalIndex>(1, (count + ranks - 1) / ranks); }
  int rank_of(GlobalIndex number) const { return static_cast<int>(number / share()); }
  GlobalIndex first(int rank) const { return std::min(count, rank * share()); }
  GlobalIndex size(int rank) const { return first(rank + 1) - first(rank); }
};

/// Collective. What the ranks of a directory have of these numbers: record(position in the rank's share). Duplicates
/// are allowed.
template <class Record, class Numbers>
std::vector<Record> look_up(const comm::Communicator& comm, const Directory& directory, const Numbers& numbers,
                            const std::vector<Record>& records) {
  partition::ByRank<GlobalIndex> wanted;
  for (const auto number : numbers) wanted[directory.rank_of(number)].push_back(number);
  partition::ByRank<Record> answers;
  for (const auto& [rank, list] : partition::exchange_by_rank(comm, "numbers of a mesh", wanted))
    for (const auto number : list) answers[rank].push_back(records[number - directory.first(comm.rank())]);
  const auto received = partition::exchange_by_rank(comm, "records of a mesh", answers);
  std::map<int, std::size_t> next;
  std::vector<Record> result;
  result.reserve(numbers.size());
  for (const auto number : numbers) {
    const int rank = directory.rank_of(number);
    result.push_back(received.at(rank)[next[rank]++]);
  }
  return result;
}

/// A record on its way to the rank of its number.
template <class Record>
struct Numbered {
  GlobalIndex number;
  Record record;
};

/// Collective. Gives records to the ranks of a directory; those of this rank's share, in the order of their numbers.
/// Each number is given by one rank.
template <class Record>
std::vector<Record> hand_in(const comm::Communicator& comm, const Directory& directory,
                            const std::vector<Numbered<Record>>& records) {
  partition::ByRank<Numbered<Record>> sent;
  for (const auto& record : records) sent[directory.rank_of(record.number)].push_back(record);
  std::vector<Record> share(static_cast<std::size_t>(directory.size(comm.rank())));
  for (const auto& [rank, list] : partition::exchange_by_rank(comm, "records of a mesh", sent))
    for (const auto& [number, record] : list) share[number - directory.first(comm.rank())] = record;
  return share;
}

} // namespace kontor::mesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/check/order_check.hpp"

#include "graph/problem/keys.hpp"

#include <kontor/comm/collectives.hpp>

#include <array>

namespace kontor::graph {
namespace {

/// Number, sum and sum of hashes: of any order.
using Multiset = std::array<std::uint64_t, 3>;

Multiset multiset_of(const std::vector<std::uint64_t>& keys) {
  Multiset sums{keys.size(), 0, 0};
  for (const auto key : keys) {
    sums[1] += key;
    sums[2] += random::mix(key);
  }
  return sums;
}

struct Part {
  std::uint64_t first = 0, last = 0;
  std::int64_t count = 0;
};

} // namespace

miniapp::Verification check_order(const comm::Communicator& comm, const Options& o,
                                  const std::vector<std::uint64_t>& sorted, std::uint64_t& checksum) {
  const auto count = static_cast<std::int64_t>(sorted.size());
  const auto parts = comm::allgather(comm, sorted.empty() ? Part{} : Part{sorted.front(), sorted.back(), count});
  std::int64_t before = 0;
  std::uint64_t least = 0;
  for (int r = 0; r < comm.rank(); ++r) {
    const auto& part = parts[static_cast<std::size_t>(r)];
    before += part.count;
    if (part.count > 0) least = std::max(least, part.last);
  }
  std::array<std::uint64_t, 2> sums{}; // out of order, places
  for (const auto key : sorted) {
    sums[0] += key < least;
    least = key;
    sums[1] += random::bits_at(key, before++, 0);
  }
  sums = comm::allreduce(comm, sums, comm::ReduceOp::sum);
  checksum = sums[1];
  const auto found = comm::allreduce(comm, multiset_of(sorted), comm::ReduceOp::sum);
  const auto due = comm::allreduce(comm, multiset_of(keys_of(o, comm.size(), comm.rank())), comm::ReduceOp::sum);
  miniapp::Verification result{.measure = "keys out of order, and sums that are not those of the deck's keys",
                               .error = static_cast<double>(sums[0])};
  for (std::size_t i = 0; i < due.size(); ++i) result.error += found[i] != due[i];
  result.judged = {"order of all keys", "number and two checksums"};
  return result;
}

} // namespace kontor::graph

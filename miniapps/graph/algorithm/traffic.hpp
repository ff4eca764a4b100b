// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/algorithm/buckets.hpp"
#include "graph/options.hpp"

#include <kontor/comm/alltoall_grid.hpp>
#include <kontor/comm/collectives.hpp>
#include <kontor/comm/neighbours.hpp>
#include <kontor/comm/point_to_point.hpp>
#include <kontor/comm/sparse_alltoall.hpp>
#include <kontor/comm/view_of.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kontor::graph {

/// What has gone from this rank to others, however it travelled.
struct Sent {
  std::int64_t messages = 0; ///< parts with elements
  std::int64_t bytes = 0;
};

/// How elements whose number and receivers are known only when they are sent reach their owners.
template <class T>
class Traffic {
 public:
  using Row = typename Buckets<T>::Row;

  /// Collective. With neighbours, which all of them must be for method neighborhood.
  Traffic(const comm::Communicator& comm, std::vector<int> neighbours)
      : comm_(comm.share()), grid_(comm), neighbours_(comm, std::move(neighbours)) {}

  void use(Method method) { method_ = method; }
  const Sent& sent() const { return sent_; }

  /// Collective. Calls take(elements) for what each rank has for this one, its own bucket first.
  template <class Take>
  void deliver(Buckets<T>& buckets, const Take& take) {
    auto& own = buckets[comm_.rank()];
    take(std::span<const T>(own));
    own.clear();
    const auto counts = buckets.counts();
    for (const auto count : counts) {
      sent_.messages += count > 0;
      sent_.bytes += count * static_cast<std::int64_t>(sizeof(T));
    }
    if (comm_.size() == 1) return;
    const auto take_row = [&](const auto& row) { take(std::span<const T>(row.data(), row.size())); };
    switch (method_) {
    case Method::sparse: return sparse(buckets, take_row);
    case Method::pairs: return pairs(buckets, counts, take_row);
    case Method::grid: received_ = alltoallv_with_counts(grid_, buckets.joined(), counts, std::move(received_)); break;
    case Method::neighborhood:
      received_ = alltoallv_with_counts(neighbours_, buckets.joined(), counts, std::move(received_));
      break;
    default: received_ = comm::alltoallv_with_counts(comm_, buckets.joined(), counts, std::move(received_));
    }
    take_row(received_.data);
  }

 private:
  template <class TakeRow>
  void sparse(Buckets<T>& buckets, const TakeRow& take_row) {
    comm::SparseMessages<decltype(comm::view_of(buckets[0]))> messages;
    for (int r = 0; r < buckets.ranks(); ++r)
      if (!buckets[r].empty()) messages.emplace_back(r, comm::view_of(buckets[r]));
    for (const auto& [source, row] : comm::sparse_alltoall(comm_, messages, "graph")) take_row(row);
  }

  template <class TakeRow>
  void pairs(Buckets<T>& buckets, const std::vector<std::int64_t>& counts, const TakeRow& take_row) {
    std::vector<std::int64_t> expected(counts.size());
    comm::alltoall(comm_, comm::view_of(counts), comm::view_of(expected));
    received_.resize("graph/received", expected);
    std::vector<comm::Request<Row>> receives;
    std::vector<comm::Request<decltype(comm::view_of(buckets[0]))>> sends;
    for (int r = 0; r < buckets.ranks(); ++r)
      if (expected[static_cast<std::size_t>(r)] > 0) receives.push_back(comm::irecv(comm_, received_.part(r), r));
    for (int r = 0; r < buckets.ranks(); ++r)
      if (!buckets[r].empty()) sends.push_back(comm::isend(comm_, comm::view_of(buckets[r]), r));
    for (auto& receive : receives) receive.wait();
    for (auto& send : sends) send.wait();
    take_row(received_.data);
  }

  comm::Communicator comm_;
  comm::AlltoallGrid grid_;
  comm::Neighbours neighbours_;
  comm::Received<Row> received_;
  Method method_ = Method::counted;
  Sent sent_;
};

} // namespace kontor::graph

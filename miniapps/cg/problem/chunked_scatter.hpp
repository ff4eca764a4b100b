// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/point_to_point.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kontor::cg {

/// Local. Values of a vector as a View, valid as long as the vector is and does not grow.
template <class T>
auto view_of(std::vector<T>& values) {
  return Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values.data(), values.size());
}

/// Collective. Items from rank 0 to all ranks, in chunks. At rank 0 send(put) calls put(rank, item) for each of them.
/// Each rank calls take(item) for its own, in that order; the other ranks know their `count`.
template <class Item, class Send, class Take>
void scatter_in_chunks(const comm::Communicator& comm, std::int64_t count, const Send& send, const Take& take) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto most = std::clamp<std::size_t>((std::size_t{1} << 22) / ranks, 1024, 65536);
  if (comm.rank() > 0) {
    std::vector<Item> items;
    for (auto left = static_cast<std::size_t>(count); left > 0; left -= items.size()) {
      items.resize(std::min(left, most));
      comm::recv(comm, view_of(items), 0);
      for (const auto& item : items) take(item);
    }
    return;
  }
  std::vector<std::vector<Item>> waiting(ranks);
  const auto pass_on = [&](std::size_t rank) {
    comm::send(comm, view_of(waiting[rank]), static_cast<int>(rank));
    waiting[rank].clear();
  };
  send([&](int to, const Item& item) {
    const auto rank = static_cast<std::size_t>(to);
    if (rank == 0) return take(item);
    waiting[rank].push_back(item);
    if (waiting[rank].size() == most) pass_on(rank);
  });
  for (std::size_t rank = 1; rank < ranks; ++rank)
    if (!waiting[rank].empty()) pass_on(rank);
}

} // namespace kontor::cg

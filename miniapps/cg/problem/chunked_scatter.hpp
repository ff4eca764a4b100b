// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/point_to_point.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace kontor::cg {

/// Local. Values of a vector as a View, valid as long as the vector is and does not grow.
template <class T>
auto view_of(std::vector<T>& values) {
  return Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values.data(),
                                                                                      values.size());
}

/// Items from rank 0 to all ranks, in chunks. Each rank knows how many it gets.
template <class Item>
class ChunkedScatter {
 public:
  using Take = std::function<void(const Item&)>;

  /// `take` is given those of this rank.
  ChunkedScatter(const comm::Communicator& comm, Take take)
      : comm_(comm), take_(std::move(take)),
        most_(std::clamp<std::size_t>((std::size_t{1} << 22) / static_cast<std::size_t>(comm.size()), 1024,
                                      65536)),
        waiting_(comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 0) {}

  /// At rank 0.
  void put(int rank, const Item& item) {
    if (rank == 0) return take_(item);
    auto& items = waiting_[static_cast<std::size_t>(rank)];
    items.push_back(item);
    if (items.size() == most_) send(rank);
  }
  /// At rank 0, after the last.
  void flush() {
    for (int rank = 1; rank < comm_.size(); ++rank)
      if (!waiting_[static_cast<std::size_t>(rank)].empty()) send(rank);
  }
  /// On the other ranks.
  void receive(std::int64_t count) {
    std::vector<Item> items;
    for (auto left = static_cast<std::size_t>(count); left > 0; left -= items.size()) {
      items.resize(std::min(left, most_));
      comm::recv(comm_, view_of(items), 0);
      for (const auto& item : items) take_(item);
    }
  }

 private:
  void send(int rank) {
    auto& items = waiting_[static_cast<std::size_t>(rank)];
    comm::send(comm_, view_of(items), rank);
    items.clear();
  }

  const comm::Communicator& comm_;
  Take take_;
  std::size_t most_;
  std::vector<std::vector<Item>> waiting_; ///< for each rank
};

} // namespace kontor::cg

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"
#include "pingpong/payload.hpp"

/// Collective operations by hand and typed, with Views of int or double, of rank 1, on the host.
namespace kontor::pingpong {

/// The ranks' parts of a View as MPI takes them.
struct Parts {
  std::vector<int> counts;
  std::vector<int> offsets{0};

  /// size_of(rank) elements each.
  template <class SizeOf>
  Parts(int ranks, const SizeOf& size_of) {
    for (int r = 0; r < ranks; ++r) {
      counts.push_back(static_cast<int>(size_of(r)));
      offsets.push_back(offsets.back() + counts.back());
    }
  }
  int total() const { return offsets.back(); }

  /// Fills rank r's part with the values of sender(r).
  template <class T, class Sender>
  void fill(T* data, int seed, const Sender& sender) const {
    for (std::size_t r = 0; r < counts.size(); ++r)
      fill_payload(data + offsets[r], counts[r], seed, sender(static_cast<int>(r)));
  }
  /// How many values are not those.
  template <class T, class Sender>
  std::int64_t wrong(const T* data, int seed, const Sender& sender) const {
    std::int64_t sum = 0;
    for (std::size_t r = 0; r < counts.size(); ++r)
      sum += wrong_payload(data + offsets[r], counts[r], seed, sender(static_cast<int>(r)));
    return sum;
  }
};

/// Gives the operation with Views for `size` elements from each rank to each.
using MakeOperation = Operation (*)(const comm::Communicator&, std::int64_t size);

/// The sum of a View over all ranks.
template <class View>
Operation allreduce(const comm::Communicator&, std::int64_t size);

/// Those whose ranks send different numbers of elements: with counts that are known, with counts that travel too, along
/// a grid, and to few ranks.
template <class View>
std::vector<MakeOperation> uneven_operations();

} // namespace kontor::pingpong

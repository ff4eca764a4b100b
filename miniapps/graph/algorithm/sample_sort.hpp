// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/algorithm/traffic.hpp"
#include "run/record/timers.hpp"

#include <cstdint>
#include <vector>

namespace kontor::graph {

/// Sample sort: samples of all ranks say which keys belong to which rank.
class SampleSort {
 public:
  using Key = std::uint64_t;

  /// Collective.
  SampleSort(const comm::Communicator&, miniapp::Timers&);

  /// Collective. Keys of this rank in, its part of the order out.
  void run(const std::vector<Key>& keys, std::vector<Key>& sorted, Traffic<Key>&);

 private:
  std::vector<Key> splitters(const std::vector<Key>& keys) const;

  comm::Communicator comm_;
  Buckets<Key> buckets_;
  miniapp::Timer &sample_, &divide_, &deliver_, &sort_;
};

} // namespace kontor::graph

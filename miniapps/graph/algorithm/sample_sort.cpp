// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/algorithm/sample_sort.hpp"

#include "random/counter_random.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/view_of.hpp>

#include <algorithm>
#include <bit>

namespace kontor::graph {

SampleSort::SampleSort(const comm::Communicator& comm, miniapp::Timers& timers)
    : comm_(comm.share()), buckets_(comm.size()), sample_(timers.communication("sample")), divide_(timers["divide"]),
      deliver_(timers.communication("deliver")), sort_(timers["sort"]) {}

/// Where the part of each rank but the first begins: from 16 samples of a rank for each doubling of ranks.
std::vector<SampleSort::Key> SampleSort::splitters(const std::vector<Key>& keys) const {
  const auto ranks = static_cast<std::size_t>(comm_.size());
  const auto count = std::min<std::size_t>(keys.size(), 16 * std::bit_width(ranks));
  std::vector<Key> own, result;
  for (std::size_t i = 0; i < count; ++i)
    own.push_back(keys[random::bits_at(0, comm_.rank(), static_cast<std::int64_t>(i)) % keys.size()]);
  const auto all = comm::allgatherv_with_counts(comm_, comm::view_of(own)).data;
  std::sort(all.data(), all.data() + all.size());
  for (std::size_t r = 1; r < ranks && all.size() > 0; ++r) result.push_back(all(r * all.size() / ranks));
  return result;
}

void SampleSort::run(const std::vector<Key>& keys, std::vector<Key>& sorted, Traffic<Key>& traffic) {
  std::vector<Key> begins;
  {
    const miniapp::ScopedTimer timed(sample_);
    begins = splitters(keys);
  }
  {
    const miniapp::ScopedTimer timed(divide_);
    buckets_.clear();
    for (const auto key : keys)
      buckets_[static_cast<int>(std::ranges::upper_bound(begins, key) - begins.begin())].push_back(key);
    sorted.clear();
  }
  {
    const miniapp::ScopedTimer timed(deliver_);
    traffic.deliver(buckets_,
                    [&](std::span<const Key> arrived) { sorted.insert(sorted.end(), arrived.begin(), arrived.end()); });
  }
  const miniapp::ScopedTimer timed(sort_);
  std::ranges::sort(sorted);
}

} // namespace kontor::graph

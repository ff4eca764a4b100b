// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/distribution.hpp"

#include "machine/gather_to_root.hpp"

#include <kontor/comm/reductions.hpp>

#include <cmath>
#include <numeric>

namespace kontor::miniapp {

Quantiles Distribution::over_ranks(const comm::Communicator& comm) const {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  std::vector<std::int64_t> counts(counts_.size());
  comm::reduce(comm, Kokkos::View<const std::int64_t*, Kokkos::HostSpace, Unmanaged>(counts_.data(), counts_.size()),
               Kokkos::View<std::int64_t*, Kokkos::HostSpace, Unmanaged>(counts.data(), counts.size()),
               comm::ReduceOp::sum, 0);
  const auto largest = gather_to_root(comm, max_);
  if (comm.rank() != 0) return {};
  const auto most = std::max_element(largest.begin(), largest.end());
  Quantiles result{.count = std::accumulate(counts.begin(), counts.end(), std::int64_t{0}),
                   .max = *most,
                   .slowest_rank = static_cast<int>(most - largest.begin())};
  const auto edge = [](std::size_t bin) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(bin) + first_bin)
                                 << dropped_bits);
  };
  const auto quantile = [&](double part) {
    const auto wanted = static_cast<std::int64_t>(std::ceil(part * static_cast<double>(result.count)));
    std::size_t bin = 0;
    for (auto below = counts[0]; below < wanted; below += counts[bin]) ++bin;
    return std::min(result.max, (edge(bin) + edge(bin + 1)) / 2);
  };
  if (result.count > 0) {
    result.p50 = quantile(0.5);
    result.p95 = quantile(0.95);
    result.p99 = quantile(0.99);
  }
  return result;
}

} // namespace kontor::miniapp

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/distribution.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/clock.hpp>

#include <cmath>
#include <numeric>

namespace kontor::miniapp {

nlohmann::ordered_json Distribution::over_ranks(const comm::Communicator& comm) const {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  std::vector<std::int64_t> counts(counts_.size());
  comm::reduce(comm, Kokkos::View<const std::int64_t*, Kokkos::HostSpace, Unmanaged>(counts_.data(), counts_.size()),
               Kokkos::View<std::int64_t*, Kokkos::HostSpace, Unmanaged>(counts.data(), counts.size()),
               comm::ReduceOp::sum, 0);
  const auto largest = comm::gather(comm, max_, 0);
  if (comm.rank() != 0) return {};
  const auto most = std::ranges::max_element(largest);
  const auto count = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const auto edge = [](std::size_t bin) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(bin) + first_bin)
                                 << dropped_bits);
  };
  const auto quantile = [&](double part) {
    const auto wanted = static_cast<std::int64_t>(std::ceil(part * static_cast<double>(count)));
    std::size_t bin = 0;
    for (auto below = counts[0]; below < wanted; below += counts[bin]) ++bin;
    return std::min(*most, (edge(bin) + edge(bin + 1)) / 2);
  };
  return {{"count", count},        {"p50", quantile(0.5)}, {"p95", quantile(0.95)},
          {"p99", quantile(0.99)}, {"max", *most},         {"slowest_rank", most - largest.begin()}};
}

nlohmann::ordered_json measure_noise(const comm::Communicator& comm) {
  std::vector<double> seconds(400);
  comm::barrier(comm);
  for (double& sample : seconds) {
    const double begin = device::seconds();
    double value = 1; // a chain of dependent operations, which compilers cannot shorten
    for (int i = 0; i < 20'000; ++i) value = value * 0.5 + 1;
    volatile double kept = value;
    static_cast<void>(kept);
    sample = device::seconds() - begin;
  }
  return noise_of(comm, seconds);
}

nlohmann::ordered_json noise_of(const comm::Communicator& comm, std::span<const double> seconds) {
  const double fastest = *std::ranges::min_element(seconds);
  Distribution excess; // above 1, where bins are narrow beside it
  for (const double sample : seconds) excess.add(std::max(1e-9, sample / fastest - 1));
  const auto found = excess.over_ranks(comm);
  const double quantum = comm::reduce(comm, fastest, comm::ReduceOp::min, 0);
  if (comm.rank() != 0) return {};
  nlohmann::ordered_json noise{{"quantum", quantum}, {"samples", found["count"]}};
  for (const char* quantile : {"p50", "p99", "max"}) noise[quantile] = 1 + found[quantile].get<double>();
  noise["slowest_rank"] = found["slowest_rank"];
  return noise;
}

} // namespace kontor::miniapp

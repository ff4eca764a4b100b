// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/noise.hpp"

#include "machine/distribution.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/clock.hpp>

#include <limits>
#include <vector>

namespace kontor::miniapp {
namespace {

/// A chain of dependent additions and multiplications, which compilers cannot shorten. Returns its seconds.
double seconds_of_chain(std::int64_t length) {
  const double begin = device::seconds();
  double value = 1;
  for (std::int64_t i = 0; i < length; ++i) value = value * 0.5 + 1;
  volatile double kept = value;
  static_cast<void>(kept);
  return device::seconds() - begin;
}

} // namespace

Noise measure_noise(const comm::Communicator& comm) {
  constexpr double quantum = 1e-4, enough = 0.05; // s
  constexpr int most_samples = 400;
  std::int64_t length = 1000;
  while (std::min(seconds_of_chain(length), seconds_of_chain(length)) < quantum / 2) length *= 2;
  length = comm::allreduce(comm, length, comm::ReduceOp::min);
  std::vector<double> seconds;
  seconds.reserve(most_samples);
  comm::barrier(comm);
  for (const double begin = device::seconds(); seconds.size() < most_samples && device::seconds() - begin < enough;)
    seconds.push_back(seconds_of_chain(length));
  return noise_of(comm, seconds);
}

Noise noise_of(const comm::Communicator& comm, std::span<const double> seconds) {
  const double fastest = seconds.empty() ? std::numeric_limits<double>::infinity() : *std::ranges::min_element(seconds);
  Distribution excess; // above 1, where bins are narrow beside it
  for (const double sample : seconds) excess.add(std::max(1e-9, sample / fastest - 1));
  const auto found = excess.over_ranks(comm);
  return {.quantum = comm::reduce(comm, fastest, comm::ReduceOp::min, 0),
          .samples = found.count,
          .p50 = 1 + found.p50,
          .p99 = 1 + found.p99,
          .max = 1 + found.max,
          .slowest_rank = found.slowest_rank};
}

} // namespace kontor::miniapp

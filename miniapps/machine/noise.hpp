// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <span>

namespace kontor::miniapp {

/// How much other work on the machine slows down a fixed quantum of arithmetic. Quantiles are over the samples of all
/// ranks: a sample is the time of a quantum relative to the fastest one of the same rank.
struct Noise {
  double quantum = 0;       ///< s, of the fastest sample of all ranks
  std::int64_t samples = 0; ///< of all ranks; 0: not measured
  double p50 = 0;
  double p99 = 0;
  double max = 0;
  int slowest_rank = 0; ///< the rank of the maximum
};

/// Collective; valid at rank 0. All ranks compute at once, on one thread each, for at most 60 ms.
Noise measure_noise(const comm::Communicator&);

/// Collective; valid at rank 0. From the seconds of each quantum of this rank.
Noise noise_of(const comm::Communicator&, std::span<const double> seconds);

} // namespace kontor::miniapp

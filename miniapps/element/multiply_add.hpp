// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "element/lanes.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/device/clock.hpp>

#include <algorithm>

namespace kontor::element {

/// Collective; takes some hundredths of a second. Flop/s of all ranks together when all do nothing but multiply lanes
/// and add, each rounded as in every kernel here: the limit of kernels that memory does not limit.
template <class T>
double multiply_add_rate(const comm::Communicator& comm) {
  constexpr int chains = 16; // of dependent operations: enough to fill the pipelines of two units
  const int workers = device::kernels_on_host ? Space().concurrency() : 1 << 18;
  const Kokkos::View<T*> sums("element/multiply adds", workers);
  double least = 0;
  std::int64_t rounds = 1000;
  for (int sample = 0; sample < 5; ++sample) {
    comm::allreduce(comm, 0.0, comm::ReduceOp::max);
    const double begin = device::seconds();
    Kokkos::parallel_for(
        "element/multiply adds", Kokkos::RangePolicy<Space>(Space(), 0, workers), KOKKOS_LAMBDA(int worker) {
          using V = Lanes<T>;
          V value[chains];
          for (int c = 0; c < chains; ++c) value[c] = all_lanes<V>(worker + c);
          const V factor = all_lanes<V>(0.5), term = all_lanes<V>(0.25);
          for (std::int64_t r = 0; r < rounds; ++r)
            unroll<chains>([&](auto c) { value[c] = value[c] * factor + term; });
          for (int c = 1; c < chains; ++c) value[0] += value[c];
          sums(worker) = lane(value[0], 0);
        });
    device::fence(Space(), "element/multiply adds");
    const double seconds = comm::allreduce(comm, device::seconds() - begin, comm::ReduceOp::max);
    if (seconds < 0.005) { // too short: again, with more
      rounds *= 4;
      sample = -1;
    } else {
      least = sample == 0 ? seconds : std::min(least, seconds);
    }
  }
  const double flops = 2.0 * chains * width<T> * static_cast<double>(rounds) * workers;
  return comm::allreduce(comm, flops, comm::ReduceOp::sum) / least;
}

} // namespace kontor::element

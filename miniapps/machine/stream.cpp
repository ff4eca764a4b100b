// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/stream.hpp"

#include "machine/memory.hpp"

#include <kontor/comm/collectives/broadcast.hpp>
#include <kontor/comm/collectives/reductions.hpp>
#include <kontor/comm/detail/view_buffer.hpp>
#include <kontor/comm/kokkos/compat.hpp>
#include <kontor/comm/phase_times.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kontor::miniapp {
namespace {

using Vector = Kokkos::View<double*>;
using comm::Stopwatch;

constexpr int stream_repeats = 8;

constexpr bool host = comm::memory_of<Vector>() == comm::MemoryKind::host;

constexpr double mebi = 1 << 20;

/// Collective. How often the work is done in one sample, so that the sample is long against a launch and a
/// look at the clock: on a device two GiB and more take less than a millisecond.
int times_in_sample(const comm::Communicator& comm, double bytes_moved) {
  constexpr double bytes_of_sample = (host ? 64 : 16384) * mebi;
  return comm::allreduce(comm,
                         static_cast<int>(std::clamp(std::ceil(bytes_of_sample / bytes_moved), 1.0, 1000.0)),
                         comm::ReduceOp::max);
}

/// Collective. Bytes/s of all ranks together: each does work that moves so many bytes, as often as a sample
/// wants, one after the other. The slowest rank's time from a barrier until the default instance has done it;
/// the best of the samples.
template <class Work>
double bandwidth_of(const comm::Communicator& comm, double bytes_moved, const Work& work) {
  const Kokkos::DefaultExecutionSpace instance;
  const int times = times_in_sample(comm, bytes_moved);
  double best = std::numeric_limits<double>::max();
  for (int repeat = 0; repeat < stream_repeats; ++repeat) {
    comm::fence(instance, "calibrate/ready");
    comm::barrier(comm);
    Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < times; ++i) work();
    comm::fence(instance, "calibrate/done");
    watch.lap(seconds);
    best = std::min(best, comm::allreduce(comm, seconds, comm::ReduceOp::max));
  }
  return times * comm::allreduce(comm, bytes_moved, comm::ReduceOp::sum) / best;
}

} // namespace

double streamed_bytes(const comm::Communicator& comm) {
  return host ? std::clamp(1536 * mebi / comm.size(), 48 * mebi, 192 * mebi)
              : std::min(3072 * mebi, comm::allreduce(comm, free_device_memory() / 8, comm::ReduceOp::min));
}

double triad_bandwidth(const comm::Communicator& comm, double bytes) {
  const auto n = std::max<std::size_t>(1, static_cast<std::size_t>(bytes) / (3 * sizeof(double)));
  const Vector a("calibrate/a", n);
  const Vector b("calibrate/b", n);
  const Vector c("calibrate/c", n);
  Kokkos::deep_copy(b, 2.0);
  Kokkos::deep_copy(c, 2.0);
  const Kokkos::DefaultExecutionSpace instance;
  return bandwidth_of(comm, 4.0 * sizeof(double) * static_cast<double>(n), [&] {
    Kokkos::parallel_for(
        "calibrate/triad", Kokkos::RangePolicy<>(instance, 0, n),
        KOKKOS_LAMBDA(std::size_t i) { a(i) += b(i) + 3.0 * c(i); });
  });
}

double copy_bandwidth(const comm::Communicator& comm, double bytes) {
  if (host) return 0;
  const auto n = std::max<std::size_t>(1, static_cast<std::size_t>(bytes) / (2 * sizeof(double)));
  const Vector from("calibrate/from", n);
  const Vector to("calibrate/to", n);
  const Kokkos::DefaultExecutionSpace instance;
  return bandwidth_of(comm, 2.0 * sizeof(double) * static_cast<double>(n),
                      [&] { Kokkos::deep_copy(instance, to, from); });
}

} // namespace kontor::miniapp

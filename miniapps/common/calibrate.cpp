// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/calibrate.hpp"

#include "common/memory.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/exchange.hpp>
#include <kontor/comm/kokkos/compat.hpp>

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

/// Collective. Bytes of a rank's three vectors together: more than a core finds in caches that it may have to
/// itself, less where many ranks share them and the memory; 1 GiB each on a device that has it.
double streamed_bytes(const comm::Communicator& comm) {
  return host ? std::clamp(1536 * mebi / comm.size(), 48 * mebi, 192 * mebi)
              : std::min(3072 * mebi, comm::allreduce(comm, free_device_memory() / 8, comm::ReduceOp::min));
}

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

/// Collective. `bytes` are those of this rank's three vectors.
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

/// Collective. The devices' own copy from one vector to another, of `bytes` together: what is copied is read
/// and written.
double copy_bandwidth(const comm::Communicator& comm, double bytes) {
  const auto n = std::max<std::size_t>(1, static_cast<std::size_t>(bytes) / (2 * sizeof(double)));
  const Vector from("calibrate/from", n);
  const Vector to("calibrate/to", n);
  const Kokkos::DefaultExecutionSpace instance;
  return bandwidth_of(comm, 2.0 * sizeof(double) * static_cast<double>(n),
                      [&] { Kokkos::deep_copy(instance, to, from); });
}

/// Seconds one way between ranks 0 and 1, the best of the repeats; the other ranks look on.
double one_way_seconds(const comm::Communicator& comm, std::size_t elements, int repeats) {
  const int me = comm.rank();
  const Kokkos::DefaultExecutionSpace instance;
  const Vector there("calibrate/send", elements);
  const Vector back("calibrate/receive", elements);
  comm::Exchange<Vector> ping(comm, "calibrate/ping");
  comm::Exchange<Vector> pong(comm, "calibrate/pong");
  ping.add(there, me == 0 ? 1 : comm::no_rank, back, me == 1 ? 0 : comm::no_rank);
  pong.add(there, me == 1 ? 0 : comm::no_rank, back, me == 0 ? 1 : comm::no_rank);
  ping.commit();
  pong.commit();
  double best = 0;
  for (int repeat = -1; repeat < repeats; ++repeat) {
    Stopwatch watch;
    double seconds = 0;
    ping.start();
    ping.finish();
    pong.start();
    pong.finish();
    comm::fence(instance, "calibrate/received"); // a device may still be moving them
    watch.lap(seconds);
    if (repeat < 0) continue; // the first one also opens the connection
    best = repeat == 0 ? seconds : std::min(best, seconds);
  }
  const double of_rank_0 = me == 0 ? best / 2 : 0;
  return comm::allreduce(comm, of_rank_0, comm::ReduceOp::max);
}

} // namespace

Calibration calibrate(const comm::Communicator& comm) {
  const comm::Region region("calibrate");
  Calibration result;
  const double bytes = streamed_bytes(comm);
  result.triad_bandwidth = triad_bandwidth(comm, bytes);
  if (!host) result.copy_bandwidth = copy_bandwidth(comm, bytes);
  if (comm.size() > 1) {
    const comm::Communicator raw(comm.native());
    constexpr std::size_t large = 1 << 18;
    result.latency = one_way_seconds(raw, 1, 200);
    result.bandwidth = large * sizeof(double) / one_way_seconds(raw, large, 10);
  }
  return result;
}

Calibration with_working_set(const comm::Communicator& comm, double bytes, Calibration result) {
  const comm::Region region("calibrate");
  result.working_set = comm::allreduce(comm, bytes, comm::ReduceOp::max);
  if (result.working_set == 0 || result.working_set >= streamed_bytes(comm)) return result;
  result.working_set_bandwidth = triad_bandwidth(comm, bytes);
  if (!host)
    result.working_set_bandwidth = std::max(result.working_set_bandwidth, copy_bandwidth(comm, bytes));
  return result;
}

} // namespace kontor::miniapp

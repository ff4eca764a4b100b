// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/calibrate.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/exchange.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>

namespace kontor::miniapp {
namespace {

using Vector = Kokkos::View<double*>;
using comm::Stopwatch;

constexpr int triad_repeats = 8;

/// Bytes of the three vectors of one rank together: more than a core finds in caches that it may have to
/// itself, less where many ranks share them and the memory.
std::size_t triad_bytes(int ranks, bool host) {
  constexpr std::size_t mebi = 1 << 20;
  if (!host) return 3072 * mebi;
  return std::clamp<std::size_t>(1536 * mebi / static_cast<std::size_t>(ranks), 48 * mebi, 192 * mebi);
}

double triad_bandwidth(const comm::Communicator& comm) {
  constexpr bool host = comm::memory_of<Vector>() == comm::MemoryKind::host;
  const std::size_t n = triad_bytes(comm.size(), host) / (3 * sizeof(double));
  const Vector a("calibrate/a", n);
  const Vector b("calibrate/b", n);
  const Vector c("calibrate/c", n);
  Kokkos::deep_copy(b, 2.0);
  Kokkos::deep_copy(c, 2.0);
  const Kokkos::DefaultExecutionSpace instance;
  double best = 0;
  for (int repeat = 0; repeat < triad_repeats; ++repeat) {
    comm::fence(instance, "calibrate/ready");
    comm::barrier(comm);
    Stopwatch watch;
    double seconds = 0;
    Kokkos::parallel_for(
        "calibrate/triad", Kokkos::RangePolicy<>(instance, 0, n),
        KOKKOS_LAMBDA(std::size_t i) { a(i) += b(i) + 3.0 * c(i); });
    comm::fence(instance, "calibrate/triad");
    watch.lap(seconds);
    const double slowest = comm::allreduce(comm, seconds, comm::ReduceOp::max);
    best = std::max(best, 4.0 * sizeof(double) * static_cast<double>(n) * comm.size() / slowest);
  }
  return best;
}

/// Seconds one way between ranks 0 and 1, the best of the repeats; the other ranks look on.
double one_way_seconds(const comm::Communicator& comm, std::size_t elements, int repeats) {
  const int me = comm.rank();
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
  result.triad_bandwidth = triad_bandwidth(comm);
  if (comm.size() > 1) {
    const comm::Communicator raw(comm.native());
    constexpr std::size_t large = 1 << 18;
    result.latency = one_way_seconds(raw, 1, 200);
    result.bandwidth = large * sizeof(double) / one_way_seconds(raw, large, 10);
  }
  return result;
}

} // namespace kontor::miniapp

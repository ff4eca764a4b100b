// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/logp.hpp"

#include "run/record/timers.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/phase_times.hpp>

#include <algorithm>
#include <vector>

namespace kontor::pingpong {
namespace {

using comm::Stopwatch;

void wait_for(double seconds) {
  Stopwatch watch;
  for (double waited = 0; waited < seconds;) watch.lap(waited);
}

/// The median of work(), which gives seconds, on rank 0 or 1; of the other ranks too, who do nothing.
template <class Work>
double median_on(const comm::Communicator& comm, int rank, int repetitions, const Work& work) {
  std::vector<double> seconds(repetitions);
  for (auto& s : seconds) {
    comm::barrier(comm);
    s = work();
  }
  return comm::allreduce(comm, comm.rank() == rank ? miniapp::median(seconds) : 0.0, comm::ReduceOp::max);
}

} // namespace

LogP measure_logp(const comm::Communicator& comm, double one_way, int repetitions) {
  const int me = comm.rank();
  const auto mpi = comm.native();
  double value = 0;
  LogP result;

  /// Rank 1 receives late, when the message has long come.
  double in_send = 0;
  double in_receive = 0;
  const auto late = [&] {
    in_send = in_receive = 0;
    if (me == 0) {
      MPI_Request request = MPI_REQUEST_NULL;
      Stopwatch watch;
      MPI_Isend(&value, 1, MPI_DOUBLE, 1, 0, mpi, &request);
      watch.lap(in_send);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (me == 1) {
      wait_for(std::max(10 * one_way, 20e-6));
      Stopwatch watch;
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, mpi, MPI_STATUS_IGNORE);
      watch.lap(in_receive);
    }
  };
  result.send_overhead = median_on(comm, 0, repetitions, [&] {
    late();
    return in_send;
  });
  result.receive_overhead = median_on(comm, 1, repetitions, [&] {
    late();
    return in_receive;
  });

  constexpr int stream = 1000;
  result.gap = median_on(comm, 0, std::max(3, repetitions / 10), [&] {
    Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < stream && me == 0; ++i) MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, mpi);
    for (int i = 0; i < stream && me == 1; ++i) MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, mpi, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, mpi);
    if (me == 0) MPI_Recv(&value, 1, MPI_DOUBLE, 1, 0, mpi, MPI_STATUS_IGNORE);
    watch.lap(seconds);
    return seconds / stream;
  });
  result.latency = std::max(0.0, one_way - result.send_overhead - result.receive_overhead);
  return result;
}

} // namespace kontor::pingpong

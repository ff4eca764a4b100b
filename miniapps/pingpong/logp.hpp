// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/timers.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

/// The LogP parameters (Culler et al. 1993) of short messages between two ranks.
namespace kontor::pingpong {

struct LogP {
  double latency = 0;          ///< L: s, what of the one-way time no processor is busy with; not below 0
  double send_overhead = 0;    ///< o of the sender: s in a non-blocking send
  double receive_overhead = 0; ///< o of the receiver: s in a receive whose message has come before
  double gap = 0;              ///< g: s between messages of a long stream
};

namespace detail {

/// Collective. The medians of work(), which gives this rank's seconds, on rank 0 and on rank 1.
template <class Work>
std::pair<double, double> medians(const comm::Communicator& comm, int repetitions, const Work& work) {
  std::vector<double> seconds(repetitions);
  for (auto& s : seconds) {
    comm::barrier(comm);
    s = work();
  }
  const auto of = [&](int rank) { return comm.rank() == rank ? miniapp::median(seconds) : 0.0; };
  const auto both = comm::allreduce(comm, std::array{of(0), of(1)}, comm::ReduceOp::max);
  return {both[0], both[1]};
}

} // namespace detail

/// Collective. Between ranks 0 and 1, one double, hand-written MPI. `one_way` is the time of such a message in s. Valid
/// on every rank.
inline LogP measure_logp(const comm::Communicator& comm, double one_way, int repetitions) {
  const int me = comm.rank();
  const auto mpi = comm.native();
  double value = 0;
  LogP result;

  // Rank 1 receives late, when the message has long come.
  std::tie(result.send_overhead, result.receive_overhead) = detail::medians(comm, repetitions, [&] {
    double seconds = 0;
    if (me == 0) {
      MPI_Request request = MPI_REQUEST_NULL;
      comm::Stopwatch watch;
      MPI_Isend(&value, 1, MPI_DOUBLE, 1, 0, mpi, &request);
      watch.lap(seconds);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (me == 1) {
      comm::Stopwatch wait;
      for (double waited = 0; waited < std::max(10 * one_way, 20e-6);) wait.lap(waited);
      comm::Stopwatch watch;
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, mpi, MPI_STATUS_IGNORE);
      watch.lap(seconds);
    }
    return seconds;
  });

  constexpr int stream = 1000;
  result.gap = detail::medians(comm, std::max(3, repetitions / 10), [&] {
                 comm::Stopwatch watch;
                 double seconds = 0;
                 for (int i = 0; i < stream && me == 0; ++i) MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, mpi);
                 for (int i = 0; i < stream && me == 1; ++i)
                   MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, mpi, MPI_STATUS_IGNORE);
                 if (me == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, mpi);
                 if (me == 0) MPI_Recv(&value, 1, MPI_DOUBLE, 1, 0, mpi, MPI_STATUS_IGNORE);
                 watch.lap(seconds);
                 return seconds / stream;
               }).first;
  result.latency = std::max(0.0, one_way - result.send_overhead - result.receive_overhead);
  return result;
}

} // namespace kontor::pingpong

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/timing.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/phase_times.hpp>

#include <algorithm>
#include <cmath>

namespace kontor::pingpong {
namespace {

class Sampler {
 public:
  Sampler(const comm::Communicator& comm, const Payload& payload, bool clocked)
      : comm_(comm), payload_(payload), clocked_(clocked) {}

  /// Seconds of one execution on this rank; 0 on one whose time does not count.
  double operator()(const Way& way, int executions) {
    payload_.fill(++seed_);
    double seconds = 0;
    comm::barrier(comm_);
    comm::Stopwatch watch;
    way.run(executions);
    watch.lap(seconds);
    if (way.verified) wrong_ += payload_.wrong(seed_);
    return clocked_ ? seconds / executions : 0;
  }

  std::int64_t wrong() const { return wrong_; }

 private:
  const comm::Communicator& comm_;
  const Payload& payload_;
  bool clocked_;
  int seed_ = 0;
  std::int64_t wrong_ = 0;
};

/// So many executions of the slowest way take the shortest sample's time.
int executions_per_sample(const comm::Communicator& comm, double slowest, double shortest) {
  constexpr double most = 10000;
  const double seconds = comm::allreduce(comm, slowest, comm::ReduceOp::max);
  return static_cast<int>(std::clamp(std::ceil(shortest / std::max(seconds, 1e-9)), 1.0, most));
}

} // namespace

Samples interleave(const comm::Communicator& comm, std::span<const Way> ways, const Payload& payload,
                   const Sampling& sampling, bool clocked) {
  Sampler sample(comm, payload, clocked);
  double slowest = 0;
  for (const auto& way : ways) {
    double fastest = sample(way, 1); // the first one opens connections
    for (std::int64_t i = 1; i < sampling.warm_up; ++i) fastest = std::min(fastest, sample(way, 1));
    slowest = std::max(slowest, fastest);
  }
  Samples result;
  result.executions = executions_per_sample(comm, slowest, sampling.shortest);
  result.seconds.assign(ways.size(), std::vector<double>(sampling.repetitions));
  for (std::int64_t repetition = 0; repetition < sampling.repetitions; ++repetition) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const auto w = (i + static_cast<std::size_t>(repetition)) % ways.size();
      result.seconds[w][repetition] = sample(ways[w], result.executions);
    }
  }
  for (auto& seconds : result.seconds)
    comm::mpi::check(MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE,
                                   MPI_MAX, comm.native()),
                     "MPI_Allreduce");
  result.wrong = sample.wrong();
  return result;
}

} // namespace kontor::pingpong

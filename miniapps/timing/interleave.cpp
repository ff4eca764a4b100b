// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "timing/interleave.hpp"

#include "run/record/timers.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <algorithm>
#include <cmath>

namespace kontor::timing {
namespace {

using comm::mpi::check;

struct Sample {
  double seconds = 0;
  comm::PhaseTimes phases;
};

/// The payload, the clock and the verification around one way.
class Sampler {
 public:
  Sampler(const comm::Communicator& comm, const Payload& payload, miniapp::StopRequest* end, bool clocked)
      : comm_(comm), payload_(payload), end_(end), clocked_(clocked) {
    expect(1); // nobody knows yet: ranks ask each other before each sample
  }

  /// Collective. So long each of the next samples takes.
  void expect(double seconds) {
    if (end_) end_->expect(seconds);
  }

  /// Of one execution on this rank; 0 on one whose time does not count.
  Sample operator()(const Way& way, int executions) {
    if (end_ && end_->agreed()) throw miniapp::EndedEarly();
    payload_.fill(++seed_);
    Sample sample;
    comm::barrier(comm_);
    comm::Stopwatch watch;
    way.run(executions);
    watch.lap(sample.seconds);
    sample.seconds *= clocked_ ? 1.0 / executions : 0;
    if (way.phases.times) sample.phases = split(way, (executions + 7) / 8);
    if (way.verified) wrong_ += payload_.wrong(seed_);
    verified_ = verified_ || way.verified;
    return sample;
  }

  std::int64_t wrong() const { return wrong_; }
  bool verified() const { return verified_; }

 private:
  const comm::Communicator& comm_;
  const Payload& payload_;
  miniapp::StopRequest* end_;
  /// Collective. The phases of one execution. They are not timed together with the whole, because to read the clock six
  /// times takes as long as a small message.
  comm::PhaseTimes split(const Way& way, int executions) const {
    const auto& now = *way.phases.times;
    const auto before = now;
    way.phases.measure(true);
    way.run(executions);
    way.phases.measure(false);
    const double share = clocked_ ? 1.0 / executions : 0;
    return {(now.pack - before.pack) * share, (now.post - before.post) * share, (now.wait - before.wait) * share,
            (now.unpack - before.unpack) * share, 1};
  }

  bool clocked_;
  int seed_ = 0;
  std::int64_t wrong_ = 0;
  bool verified_ = false;
};

comm::PhaseTimes median_phases(const std::vector<comm::PhaseTimes>& samples) {
  const auto median_of = [&](double comm::PhaseTimes::*phase) {
    std::vector<double> values;
    for (const auto& sample : samples) values.push_back(sample.*phase);
    return miniapp::median(values);
  };
  using P = comm::PhaseTimes;
  return {median_of(&P::pack), median_of(&P::post), median_of(&P::wait), median_of(&P::unpack), 1};
}

/// Collective. Those of the rank that takes longest.
comm::PhaseTimes slowest(const comm::Communicator& comm, const comm::PhaseTimes& mine) {
  struct {
    double seconds;
    int rank;
  } longest{mine.total(), comm.rank()};
  check(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm.native()), "MPI_Allreduce");
  auto phases = mine;
  check(MPI_Bcast(&phases, sizeof phases, MPI_BYTE, longest.rank, comm.native()), "MPI_Bcast");
  return phases;
}

/// So many executions of the slowest way take the shortest sample's time.
int executions_per_sample(const comm::Communicator& comm, double slowest, double shortest) {
  constexpr double most = 10000;
  const double seconds = comm::allreduce(comm, slowest, comm::ReduceOp::max);
  return static_cast<int>(std::clamp(std::ceil(shortest / std::max(seconds, 1e-9)), 1.0, most));
}

} // namespace

void Sampling::describe(config::Visitor& v) {
  v.value("repetitions", repetitions, "Samples of each method at each size", {1, 1000000});
  v.value("warm_up", warm_up, "Executions of each method before the samples", {1, 1000000});
  v.value("shortest_sample", shortest,
          "Seconds of a sample, at least; that of a shorter execution is the mean of several", {0, 10});
}

Samples interleave(const comm::Communicator& comm, std::span<const Way> ways, const Payload& payload,
                   const Sampling& sampling, miniapp::StopRequest* end, bool clocked) {
  Sampler sample(comm, payload, end, clocked);
  double longest = 0;
  for (const auto& way : ways) {
    double fastest = sample(way, 1).seconds; // the first one opens connections
    for (std::int64_t i = 1; i < sampling.warm_up; ++i) fastest = std::min(fastest, sample(way, 1).seconds);
    longest = std::max(longest, fastest);
  }
  Samples result;
  result.executions = executions_per_sample(comm, longest, sampling.shortest);
  sample.expect(longest * result.executions);
  result.seconds.assign(ways.size(), std::vector<double>(sampling.repetitions));
  std::vector phases(ways.size(), std::vector<comm::PhaseTimes>(sampling.repetitions));
  for (std::int64_t repetition = 0; repetition < sampling.repetitions; ++repetition) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const auto w = (i + static_cast<std::size_t>(repetition)) % ways.size();
      const auto one = sample(ways[w], result.executions);
      result.seconds[w][repetition] = one.seconds;
      phases[w][repetition] = one.phases;
    }
  }
  for (auto& seconds : result.seconds)
    check(MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX,
                        comm.native()),
          "MPI_Allreduce");
  for (const auto& of_way : phases) result.phases.push_back(slowest(comm, median_phases(of_way)));
  result.wrong = sample.wrong();
  result.verified = sample.verified();
  return result;
}

} // namespace kontor::timing

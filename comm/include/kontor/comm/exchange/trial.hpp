// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <cstddef>
#include <span>
#include <vector>

/// A choice among methods by trial.
namespace kontor::comm {

/// How often a trial repeats.
struct TrialLength {
  int rounds = 0; ///< in each of which every method has its turn
  int count = 0;  ///< of what a method does in its turn
};

/// Collective. The largest of all ranks' values, each at its place, by MPI_Allreduce.
void max_over_ranks(const Communicator&, std::span<double> values);
/// The same of one value.
double max_over_ranks(const Communicator&, double value);

/// Long enough to tell methods apart, where `limit` seconds allow that. `seconds` is the time of all methods together.
TrialLength trial_length(double seconds, double limit);

/// The medians over rounds; times[round * methods + c] is of method c.
std::vector<double> medians(std::span<const double> times, std::size_t methods);

/// The first of those that are as fast as the fastest, give or take 3 %: so that it is not noise that chooses between
/// equals, and the usual method, which comes first, wins.
std::size_t choose(std::span<const double> seconds);

/// Collective. The seconds of each method as all ranks agree on them; turn(c, n) does what method c does n times and
/// returns the seconds of one. They take turns, so that what disturbs the machine disturbs all of them.
template <class Turn>
std::vector<double> try_in_turns(const Communicator& comm, std::size_t methods, const Turn& turn) {
  double together = 0;
  for (std::size_t c = 0; c < methods; ++c) {
    turn(c, 2);
    together += turn(c, 1);
  }
  const auto [rounds, count] = trial_length(max_over_ranks(comm, together), comm.options().trial);
  std::vector<double> times(static_cast<std::size_t>(rounds) * methods);
  for (std::size_t i = 0; i < times.size(); ++i) {
    max_over_ranks(comm, 0); // a barrier
    times[i] = turn(i % methods, count);
  }
  max_over_ranks(comm, times);
  return medians(times, methods);
}

} // namespace kontor::comm

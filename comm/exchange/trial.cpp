// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/deadline.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/exchange/trial.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::comm {

void max_over_ranks(const Communicator& comm, std::span<double> values) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX,
                            comm.native(), &request),
             "MPI_Iallreduce");
  const auto done = [&] { return mpi::test(request); };
  mpi::wait_within(mpi::timeout(comm.options()), comm.native(), "trial of methods", done, [&] {
    detail::internals(comm).leak_at_end();
    return "the other ranks";
  });
}

double max_over_ranks(const Communicator& comm, double value) {
  max_over_ranks(comm, std::span(&value, 1));
  return value;
}

namespace {

/// What an int does not hold, and what is no number, too.
int as_int(double value, int least, int most) {
  if (!(value > least)) return least;
  return value < most ? static_cast<int>(value) : most;
}

} // namespace

TrialLength trial_length(double seconds, double limit) {
  const double readable = std::min(200e-6, limit); // s for one turn, far above what the clock resolves
  const double one = std::max(seconds, 1e-9);
  const int count = as_int(readable / one, 1, 32);
  const int rounds = as_int(limit / (one * count), 3, 101);
  return {rounds, count};
}

std::size_t choose(std::span<const double> seconds) {
  const double enough = 1.03 * *std::ranges::min_element(seconds);
  return static_cast<std::size_t>(std::ranges::find_if(seconds, [&](double s) { return s <= enough; }) -
                                  seconds.begin());
}

std::vector<double> medians(std::span<const double> times, std::size_t methods) {
  std::vector<double> result;
  for (std::size_t c = 0; c < methods; ++c) {
    std::vector<double> of_one;
    for (std::size_t i = c; i < times.size(); i += methods) of_one.push_back(times[i]);
    const auto middle = of_one.begin() + static_cast<std::ptrdiff_t>(of_one.size() / 2);
    std::nth_element(of_one.begin(), middle, of_one.end());
    result.push_back(*middle);
  }
  return result;
}

} // namespace kontor::comm

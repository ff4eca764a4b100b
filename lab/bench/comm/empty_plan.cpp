// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the layer itself costs in a step: an exchange without messages, at the waist (two virtual calls) and
// at the top (which also takes times, marks regions and makes one fence). Prints medians over rounds, in ns.
#include <kontor/comm/comm.hpp>
#include <kontor/comm/communicator/internals.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace {

using namespace kontor::comm;

template <class Step>
double median_ns(const Step& step) {
  constexpr int rounds = 101;
  constexpr int steps = 100000;
  std::vector<double> ns;
  for (int round = 0; round < rounds; ++round) {
    double seconds = 0;
    Stopwatch watch;
    for (int i = 0; i < steps; ++i) step();
    watch.lap(seconds);
    ns.push_back(1e9 * seconds / steps);
  }
  std::nth_element(ns.begin(), ns.begin() + rounds / 2, ns.end());
  return ns[rounds / 2];
}

void measure(Pattern pattern) {
  Options options;
  options.pattern = pattern;
  const Communicator comm(MPI_COMM_WORLD, options);
  Schedule schedule;
  schedule.label = "empty";
  schedule.pattern = pattern;
  const auto plan = detail::internals(comm).backend().plan(schedule).plan;
  Exchange<Kokkos::View<double*, Kokkos::HostSpace>> exchange(comm, "empty");
  exchange.commit();
  const auto waist = median_ns([&] {
    plan->start();
    plan->finish();
  });
  const auto top = median_ns([&] {
    exchange.start();
    exchange.finish();
  });
  if (comm.rank() == 0) fmt::print("{:<40}{:>10.1f}{:>10.1f}\n", to_string(options), waist, top);
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    fmt::print("{:<40}{:>10}{:>10}\n", "start() and finish(), ns", "plan", "exchange");
    for (const auto pattern : {Pattern::blocking, Pattern::nonblocking, Pattern::persistent, Pattern::rma})
      measure(pattern);
  }
  MPI_Finalize();
}

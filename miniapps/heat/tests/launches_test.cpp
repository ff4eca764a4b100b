// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which launches heat can have, why not others, and what a trial of passes tries.
#include "heat/make_heat.hpp"
#include "machine/device.hpp"
#include "run.hpp"
#include "run/tests/launch_trial.hpp"
#include "run/tests/refusal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kontor::heat::test {
namespace {

std::string refusal_of_graph(const std::string& deck) {
  auto options = read_options(deck);
  options.launch = Launch::graph;
  Problem<double> problem(options, MPI_COMM_WORLD);
  const auto error = miniapp::test::error_of([&] { problem.heat->warm_up(); });
  return error.empty() ? "accepted" : error;
}

TEST(Graph, IsRefusedWithTheReason) {
  const std::string steady = "test.yaml:8:1: solver.launch is graph, but ";
  const std::string transient = "test.yaml: solver.launch is graph, but ";
  const std::string choice = "; choose auto or per_kernel [E-DECK-CONFLICT]";
  if (!on_device) {
    EXPECT_EQ(refusal_of_graph(steady_2d), steady + "steps are made on the host" + choice);
    return;
  }
  EXPECT_EQ(refusal_of_graph(transient_3d), transient + "the deck's boundary values or source depend on time" + choice);
  EXPECT_EQ(refusal_of_graph(steady_2d),
            world_size() == 1 ? "accepted" : steady + "the host takes part in each message by backend 'raw'" + choice);
  if (world_size() > 1) return;
  miniapp::test::expect_facts(refusal_of_graph(steady_deck("tolerance: 1, max_sweeps: 41, check_every: 16, norm: max")),
                              {"16 steps in a row, and there are 15"});
}

TEST(Persistent, IsRefusedWithTheReason) {
  const auto refused = [](const std::string& deck, const std::string& fact, const auto& change) {
    auto options = read_options(deck);
    options.launch = Launch::persistent;
    change(options);
    const comm::Options method{.backend = device::kernels_on_host ? "shm" : "ipc"};
    Problem<double> problem(options, MPI_COMM_WORLD, method);
    miniapp::test::expect_facts(miniapp::test::error_of([&] { problem.heat->warm_up(); }),
                                {"is persistent", fact, "E-DECK-CONFLICT"});
  };
  const auto nothing = [](auto&) {};
  if (!on_device) return refused(steady_2d, "on the host", nothing);
  refused(transient_3d, "depend on time", nothing);
  refused(steady_2d, "solver.kernel is plain", [](auto& options) { options.kernel = SweepKernel::plain; });
  refused(steady_2d, "solver.steps_per_pass", [](auto& options) { options.steps_per_pass = 2; });
  refused(steady_2d, "reproducible sums", [](auto& options) {
    options.norm = Norm::l2;
    options.sums = SumKind::reproducible;
    options.process_grid = {1, world_size()};
  });
  if (world_size() == 1) return;
  refused(steady_2d, "cuts axis x", [](auto& options) { options.process_grid = {world_size(), 1}; });
  auto options = read_options(steady_2d);
  options.launch = Launch::persistent;
  options.process_grid = {1, world_size()};
  Problem<double> problem(options, MPI_COMM_WORLD);
  miniapp::test::expect_facts(miniapp::test::error_of([&] { problem.heat->warm_up(); }), {"'raw'", "ipc", "shm"});
}

/// The teams of two kernels on one device might wait for each other for ever.
TEST(Persistent, IsNotTriedWhereRanksShareADevice) {
  if (!on_device) return;
  auto options = read_options(steady_deck("tolerance: 0, max_sweeps: 128, check_every: 0"));
  options.process_grid = {1, world_size()};
  Problem<double> problem(options, MPI_COMM_WORLD, {.backend = device::kernels_on_host ? "shm" : "ipc"});
  problem.heat->warm_up();
  const auto record = problem.heat->record();
  const bool alone = comm::max_over_ranks(problem.comm, miniapp::ranks_of_memory(problem.comm).size()) == 1;
  EXPECT_EQ(miniapp::test::was_tried(record, "persistent"), alone);
}

/// So that the first repeat is like the others.
TEST(WarmUp, MakesTheLaunchesOfARepeat) {
  if (!on_device || world_size() > 1) return;
  auto options = read_options(steady_deck("tolerance: 1e-9, max_sweeps: 500, check_every: 50"));
  for (const auto launch : {Launch::graph, Launch::persistent}) {
    options.launch = launch;
    Problem<double> problem(options, MPI_COMM_WORLD);
    problem.heat->warm_up();
    EXPECT_TRUE(problem.heat->verify_launches().passed());
    EXPECT_GT(problem.timers.entries().at(stepping::name_of(launch)).calls, 0);
  }
}

TEST(Passes, AreChosenAmongThoseThatArePossible) {
  const auto lengths_tried = [](const std::string& solver) {
    miniapp::test::Loan loan("heat", comm::Communicator(MPI_COMM_WORLD, {.trial = 100}));
    const auto heat = make_heat<double>(read_options(steady_deck("steps_per_pass: auto, " + solver)), loan.context());
    loan.run(*heat);
    EXPECT_TRUE(heat->verify().passed());
    std::vector<int> lengths;
    const auto record = heat->record();
    for (const auto& row : record["steps_per_pass_trial"]) {
      EXPECT_EQ(row["refusal"] == "", std::isfinite(row["seconds"].get<double>()));
      if (row["refusal"] == "") lengths.push_back(std::stoi(row["candidate"].get<std::string>()));
    }
    EXPECT_EQ(std::ranges::count(lengths, record["steps_per_pass"].get<int>()), 1);
    return lengths;
  };
  const std::int64_t thinnest = 23 / world_size(); // at least: 37 x 23 cells are cut along x, too
  const auto free = lengths_tried("tolerance: 0, max_sweeps: 41, check_every: 0");
  ASSERT_GE(free.size(), thinnest >= 4 ? 3u : 2u);
  EXPECT_EQ(free[0], 1);
  EXPECT_EQ(free[1], 2);
  EXPECT_EQ(lengths_tried("tolerance: 0, max_sweeps: 41, check_every: 4").size(), 2u); // at most 3 between norms
  EXPECT_EQ(lengths_tried("tolerance: 0, max_sweeps: 41, check_every: 1").size(), 1u);
  if (on_device && world_size() == 1) {
    EXPECT_EQ(lengths_tried("tolerance: 0, max_sweeps: 41, launch: persistent"), std::vector{1});
  }
}

} // namespace
} // namespace kontor::heat::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run that resumes from a checkpoint has the field and the norms, to the last bit, of one that was never interrupted:
// from any number of ranks onto any other, with another process grid, backend, pattern, packing and overlap, by graphs
// and without.
#include "grid/regions.hpp"
#include "methods.hpp"
#include "run.hpp"
#include "run/checkpoint/restart.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/refusal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace kontor::heat::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* fixed_sweeps = "tolerance: 0, max_sweeps: 53, check_every: 3, norm: l2, sums: reproducible";
constexpr const char* to_tolerance = "tolerance: 2.5e-3, max_sweeps: 5000, check_every: 3, norm: max";

constexpr const char* with_time = R"deck(
app: heat
problem:
  equation: transient
  precision: float
  cells: [19, 11, 13]
  initial: "cos(3*x)*y + z"
  source: "t*x"
  boundary: {x_min: periodic, x_max: periodic, y_min: {dirichlet: "1 + t"}, y_max: {neumann: "z"}}
solver: {check_every: 7}
time: {end: 0.04}
)deck";

using namespace miniapp::test;

/// The field of all ranks and the norms.
struct Answer {
  std::vector<double> field;
  nlohmann::ordered_json norms;
  std::int64_t sweeps = 0;
};

/// The whole field on every rank: each adds its own cells to zeros. A sum of a value and zeros is exact.
template <class T>
Answer answer_of(const Heat<T>& heat, MPI_Comm comm) {
  const auto& domain = heat.domain();
  const auto& block = domain.block();
  Answer answer{std::vector<double>(static_cast<std::size_t>(domain.cells())), heat.record()["history"],
                domain.sweeps()};
  const auto cells = domain.current_on_host();
  for (std::int64_t k = 0; k < block.extents[2]; ++k)
    for (std::int64_t j = 0; j < block.extents[1]; ++j)
      for (std::int64_t i = 0; i < block.extents[0]; ++i)
        answer.field[static_cast<std::size_t>(
            ((block.offset[2] + k) * block.global[1] + block.offset[1] + j) * block.global[0] + block.offset[0] + i)] =
            cells(k, j, i);
  MPI_Allreduce(MPI_IN_PLACE, answer.field.data(), static_cast<int>(answer.field.size()), MPI_DOUBLE, MPI_SUM, comm);
  return answer;
}

void expect_same(const Answer& found, const Answer& expected, const std::string& how) {
  EXPECT_EQ(found.sweeps, expected.sweeps) << how;
  EXPECT_EQ(found.norms, expected.norms) << how;
  EXPECT_TRUE(found.field == expected.field) << how;
}

Options options_of(const std::string& deck) {
  auto options = read_options(deck, 1);
  options.process_grid.clear();
  return options;
}

/// On a device, where there can be some.
Launch graphs(const Options& options, int ranks) {
  const bool can = on_device && ranks == 1 && options.equation == Equation::steady && options.tolerance == 0;
  return can ? Launch::graph : Launch::per_kernel;
}

/// From each of some numbers of ranks onto each of them, each pair by one of three decks, by other methods each time.
template <class T>
void check_all(const std::string& deck, std::size_t number) {
  const auto ranks = some_ranks();
  const Folder folder("restart");
  const auto options = options_of(deck);
  const auto alone = [&] {
    auto whole = options;
    whole.process_grid.assign(options.cells.size(), 1);
    const Problem<T> problem(whole, MPI_COMM_SELF);
    problem.run();
    return answer_of(*problem.heat, MPI_COMM_SELF);
  }();
  const auto methods = device::kernels_on_host ? comm::test::methods() : comm::test::device_methods();
  int turn = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int from = ranks[i];
    const auto writers = first_ranks(from);
    const auto name = folder / fmt::format("from-{}.h5", from);
    std::array<std::int64_t, 2> steps{}; // how many checkpoints, and the first
    if (writers != MPI_COMM_NULL) {
      auto how = options;
      how.process_grid = some_grid(from, options.cells.size(), from);
      how.launch = graphs(how, from);
      const auto& method = methods[static_cast<std::size_t>(turn) % methods.size()];
      const Problem<T> written(how, writers, method, from % 2 == 0, checkpoints(name, 20, 9));
      written.run();
      const auto& all = written.checkpoints->steps();
      steps = {std::ssize(all), all.empty() ? 0 : all.front()};
      expect_same(answer_of(*written.heat, writers), alone, fmt::format("{} ranks write", from));
    }
    MPI_Bcast(steps.data(), 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    ASSERT_GE(steps[0], 2);
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      if (++turn; (i + j) % 3 != number) continue;
      const int onto = ranks[j];
      const auto readers = first_ranks(onto);
      if (readers == MPI_COMM_NULL) continue;
      auto how = options;
      how.process_grid = some_grid(onto, options.cells.size(), turn);
      const auto& method = methods[static_cast<std::size_t>(turn) % methods.size()];
      const auto words = fmt::format("{} onto {} ranks as {}, {}, overlap {}", from, onto,
                                     fmt::join(how.process_grid, " x "), comm::to_string(method), turn % 2);
      how.launch = graphs(how, onto);
      const auto file = turn % 3 == 0 ? name : miniapp::checkpoint_name(name, steps[1]).string();
      const miniapp::Restart restart(readers, file);
      EXPECT_EQ(restart.note(), "");
      const Problem<T> problem(how, readers, method, turn % 2 == 1);
      problem.heat->warm_up();
      problem.heat->reset();
      problem.heat->read_state(restart.reader());
      problem.heat->run();
      expect_same(answer_of(*problem.heat, readers), alone, words);
      const auto made = alone.sweeps - restart.header().step;
      EXPECT_GT(made, 0);
      EXPECT_EQ(problem.heat->figures(2.0, {}).front().value,
                problem.heat->domain().cells() * static_cast<double>(made) / 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

#define NEEDS_RANKS                                                                                                    \
  if (world_size() < 4) GTEST_SKIP() << "others have more ranks"

TEST(Restart, SteadyHasTheSameBits) {
  NEEDS_RANKS;
  check_all<double>(steady_deck(fixed_sweeps), 0);
}

TEST(Restart, ToATolerance) {
  NEEDS_RANKS;
  check_all<double>(steady_deck(to_tolerance), 1);
}

TEST(Restart, TransientHasTheSameBits) {
  NEEDS_RANKS;
  check_all<float>(with_time, 2);
}

/// Sweeps to a tolerance by each kind of launch, without checkpoints and with one at every norm, have the bits, norms
/// and number of those by single launches; and so has a run that resumes from the last checkpoint.
TEST(Launches, ToATolerance) {
  const Folder folder("launches");
  auto options = read_options(steady_deck("tolerance: 0, max_sweeps: 150, check_every: 20"));
  options.process_grid = {1, world_size()};
  const auto check = [&](Launch launch, std::int64_t steps_per_pass) {
    options.launch = Launch::per_kernel;
    options.steps_per_pass = 1;
    options.tolerance = 0;
    auto alone = options;
    alone.process_grid = {1, 1};
    const Problem<double> all(alone, MPI_COMM_SELF);
    all.run();
    const auto history = all.heat->record()["history"];
    ASSERT_EQ(history.at("iteration").at(2), 60);
    options.tolerance = alone.tolerance = 1.0001 * history.at("norm").at(2).get<double>();
    const Problem<double> reference(alone, MPI_COMM_SELF);
    reference.run();
    const auto expected = answer_of(*reference.heat, MPI_COMM_SELF);
    ASSERT_EQ(expected.sweeps, 60);
    options.launch = launch;
    options.steps_per_pass = steps_per_pass;
    const comm::Options method{.backend = device::kernels_on_host ? "shm" : "ipc"};
    for (const int every : {0, 20}) {
      const auto words = fmt::format("launch {}, {} sweeps a pass, norm {}, a checkpoint every {}",
                                     static_cast<int>(launch), steps_per_pass, static_cast<int>(options.norm), every);
      const auto file = folder / "u.h5";
      const Problem<double> problem(options, MPI_COMM_WORLD, method, true,
                                    every > 0 ? checkpoints(file, every) : miniapp::CheckpointOptions{});
      problem.heat->warm_up();
      problem.heat->time_alone();
      EXPECT_EQ(problem.heat->computing().size(), world_size() > 1 ? 1u : 0u);
      problem.heat->reset();
      if (every > 0) problem.checkpoints->begin_repeat(0, 0);
      problem.heat->run();
      expect_same(answer_of(*problem.heat, MPI_COMM_WORLD), expected, words);
      const auto verdict = problem.heat->verify();
      EXPECT_LE(verdict.error, verdict.tolerance) << words;
      if (every != 20 || problem.checkpoints->steps().empty()) continue; // one kernel may make all sweeps
      const miniapp::Restart restart(MPI_COMM_WORLD, file);
      problem.heat->reset();
      problem.heat->read_state(restart.reader());
      problem.heat->run();
      expect_same(answer_of(*problem.heat, MPI_COMM_WORLD), expected, words + ", gone on with");
    }
  };
  for (const std::int64_t steps_per_pass : {1, 2, 4}) check(Launch::per_kernel, steps_per_pass);
  if (!on_device) return;
  if (world_size() == 1 || !device::kernels_on_host)
    for (const std::int64_t steps_per_pass : {1, 4}) check(Launch::graph, steps_per_pass);
  check(Launch::persistent, 1);
  options.norm = Norm::l2;
  options.sums = SumKind::reproducible;
  check(Launch::persistent, 1);
}

/// A checkpoint between norms does not end a run by a norm of before, which another tolerance has passed.
TEST(Restart, AnotherToleranceAndLimit) {
  if (world_size() != 4) GTEST_SKIP() << "others do";
  const Folder folder("tolerance");
  auto options = read_options(steady_deck("tolerance: 0, max_sweeps: 50, check_every: 7"));
  const auto file = folder / "u.h5";
  Problem<double>(options, MPI_COMM_WORLD, {}, true, checkpoints(file, 40)).run();
  const auto go_on = [&](double tolerance, std::int64_t limit) {
    options.tolerance = tolerance;
    options.max_sweeps = limit;
    const miniapp::Restart restart(MPI_COMM_WORLD, file);
    const Problem<double> problem(options, MPI_COMM_WORLD);
    problem.heat->read_state(restart.reader());
    problem.heat->run();
    return problem.heat->record();
  };
  EXPECT_EQ(go_on(1e9, 100)["sweeps"], 42); // the next norm
  EXPECT_EQ(go_on(0, 61)["sweeps"], 61);
  EXPECT_EQ(go_on(0, 61)["history"]["iteration"], (std::vector<std::int64_t>{7, 14, 21, 28, 35, 42, 49, 56, 61}));
  EXPECT_THROW(go_on(0, 40), config::Error);
}

/// Which checkpoints stay, and which is taken.
TEST(Restart, TheNewestThatIsWhole) {
  if (world_size() != 4) GTEST_SKIP() << "others do";
  const Folder folder("newest");
  const auto options = read_options(steady_deck(fixed_sweeps));
  const auto file = folder / "u.h5";
  const auto of = [&](std::int64_t step) { return miniapp::checkpoint_name(file, step); };
  const Problem<double> written(options, MPI_COMM_WORLD, {}, true, checkpoints(file, 10, 3));
  written.run();
  EXPECT_EQ(written.checkpoints->steps(), (std::vector<std::int64_t>{10, 20, 30, 40, 50}));
  for (const int step : {10, 20}) EXPECT_FALSE(fs::exists(of(step))) << step;
  for (const int step : {30, 40, 50}) EXPECT_TRUE(fs::exists(of(step))) << step;
  MPI_Barrier(MPI_COMM_WORLD);

  const auto taken = [&](const fs::path& name) {
    const miniapp::Restart restart(MPI_COMM_WORLD, name.string());
    return std::pair(restart.header().step, restart.note().empty());
  };
  EXPECT_EQ(taken(file), std::pair(std::int64_t{50}, true));
  EXPECT_EQ(taken(of(40)), std::pair(std::int64_t{40}, true));
  const auto damage = [&](std::int64_t step) {
    if (world_rank() == 0) fs::resize_file(of(step), 4000);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  damage(50);
  EXPECT_EQ(taken(file), std::pair(std::int64_t{40}, false));
  miniapp::test::expect_facts(miniapp::test::error_of([&] { taken(of(50)); }), {of(50).string()});
  damage(30);
  EXPECT_EQ(taken(file), std::pair(std::int64_t{40}, false));
  damage(40);
  miniapp::test::expect_facts(miniapp::test::error_of([&] { taken(file); }),
                              {of(30).string(), of(40).string(), of(50).string()});
}

/// A run from the beginning removes no checkpoint of another run, but is newer.
TEST(Restart, AnotherRunOfTheName) {
  if (world_size() != 4) GTEST_SKIP() << "others do";
  const Folder folder("another");
  const auto options = read_options(steady_deck(fixed_sweeps));
  const auto file = folder / "u.h5";
  for (const int every : {25, 15})
    Problem<double>(options, MPI_COMM_WORLD, {}, true, checkpoints(file, every, 1)).run();
  EXPECT_TRUE(fs::exists(miniapp::checkpoint_name(file, 50)));
  EXPECT_EQ(miniapp::Restart(MPI_COMM_WORLD, file).header().step, 45);
}

} // namespace
} // namespace kontor::heat::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The field has the bits of a textbook loop on any ranks, and the verification finds what it is not.
#include "advection/advection.hpp"
#include "advection/check/exact.hpp"
#include "grid/for_cells.hpp"
#include "grid/process_grid.hpp"
#include "methods.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"
#include "run/tests/sized.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/output/values_at.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace kontor::advection {
namespace {

using miniapp::test::error_of;
using miniapp::test::expect_facts;
using miniapp::test::world_size;

Options options_of(std::vector<std::int64_t> cells, std::vector<double> velocity) {
  Options options;
  options.cells = std::move(cells);
  options.velocity = std::move(velocity);
  options.size = {3, 2};
  options.waves = {options.cells[0] > 1 ? 1 : 0, options.cells[1] > 1 ? 1 : 0};
  options.steps = 19;
  return options;
}

/// The process grids of so many ranks over these cells.
std::vector<std::vector<std::int64_t>> process_grids(const Options& options, int ranks) {
  std::vector<std::vector<std::int64_t>> grids;
  for (std::int64_t x = 1; x <= ranks; ++x)
    if (ranks % x == 0 && x <= options.cells[0] && ranks / x <= options.cells[1]) grids.push_back({x, ranks / x});
  return grids;
}

/// With all that a run lends it.
struct App : miniapp::test::Loan {
  std::unique_ptr<miniapp::MiniApp> app;

  explicit App(const Options& options, comm::Communicator ranks = comm::Communicator(MPI_COMM_WORLD),
               bool overlap = true)
      : Loan("advection", std::move(ranks)), app(make_advection(options, context(overlap))) {
    app->warm_up();
    app->reset();
  }
  miniapp::MiniApp* operator->() const { return app.get(); }

  /// Collective. The whole field, x fastest.
  std::vector<double> field(const Options& options, const std::string& path) const {
    output::File file(comm.native(), path);
    app->write_state(file);
    file.commit();
    std::vector<std::vector<std::uint64_t>> places;
    for (std::uint64_t j = 0; j < static_cast<std::uint64_t>(options.cells[1]); ++j)
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(options.cells[0]); ++i) places.push_back({j, i});
    comm::barrier(comm);
    auto values = output::values_at(path, "/state/u", places);
    comm::barrier(comm);
    return values;
  }
};

/// As a textbook has it.
std::vector<double> by_loops(const Options& o) {
  const auto nx = o.cells[0], ny = o.cells[1];
  std::vector<double> u(static_cast<std::size_t>(nx * ny));
  const auto at = [&](std::int64_t i, std::int64_t j) { return (j + ny) % ny * nx + (i + nx) % nx; };
  for (std::int64_t j = 0; j < ny; ++j)
    for (std::int64_t i = 0; i < nx; ++i)
      u[at(i, j)] =
          std::sin(2 * std::numbers::pi *
                   (static_cast<double>(o.waves[0]) * ((static_cast<double>(i) + 0.5) * o.width(0)) / o.size[0] +
                    static_cast<double>(o.waves[1]) * ((static_cast<double>(j) + 0.5) * o.width(1)) / o.size[1]));
  const double cx = std::abs(o.velocity[0]) * o.time_step() / o.width(0);
  const double cy = std::abs(o.velocity[1]) * o.time_step() / o.width(1);
  for (std::int64_t n = 0; n < o.steps; ++n) {
    const auto v = u;
    for (std::int64_t j = 0; j < ny; ++j)
      for (std::int64_t i = 0; i < nx; ++i)
        u[at(i, j)] = v[at(i, j)] - cx * (v[at(i, j)] - v[at(i - (o.velocity[0] < 0 ? -1 : 1), j)]) -
                      cy * (v[at(i, j)] - v[at(i, j - (o.velocity[1] < 0 ? -1 : 1))]);
  }
  return u;
}

void expect_passed(const miniapp::Verification& result, const std::string& of = "") {
  EXPECT_TRUE(result.passed()) << result.error << " above " << result.tolerance << result.remark << ": " << of;
}

/// Odd shapes, all signs, all process grids and methods, with overlap and without.
TEST(Advection, HasTheBitsOfLoopsOnAnyRanks) {
  const miniapp::test::Folder folder("advection-bits");
  const auto methods = comm::test::methods();
  std::size_t turn = 0;
  for (const std::vector<std::int64_t>& cells : {std::vector<std::int64_t>{37, 23}, {1, 19}, {21, 1}, {7, 6}, {3, 40}})
    for (const std::vector<double>& velocity : {std::vector<double>{1, 0.5}, {-1, 2}, {0.1, -3}, {-2, -2}, {0, -1}}) {
      auto options = options_of(cells, velocity);
      const auto expected = by_loops(options);
      for (const auto& grid : process_grids(options, world_size())) {
        options.process_grid = grid;
        const auto& method = methods[turn++ % methods.size()];
        for (const bool overlap : {false, true}) {
          const App app(options, comm::Communicator(MPI_COMM_WORLD, method), overlap);
          app->run();
          const auto words =
              fmt::format("{} x {} cells by {} x {} ranks, {}, velocity {} {}, overlap {}", cells[0], cells[1], grid[0],
                          grid[1], comm::to_string(method), velocity[0], velocity[1], overlap);
          EXPECT_TRUE(app.field(options, folder / "u.h5") == expected) << words;
          expect_passed(app->verify_launches(), words);
        }
      }
    }
}

TEST(Advection, VerifiesWhatItHasAdvancedAndNothingElse) {
  for (const std::vector<double>& velocity : {std::vector<double>{1, 0.5}, {-1, -3}}) {
    auto options = options_of({37, 23}, velocity);
    options.process_grid = process_grids(options, world_size()).front();
    const App app(options);
    expect_passed(app->verify_start());
    EXPECT_TRUE(app->verify().failed());
    app->run();
    expect_passed(app->verify());
    EXPECT_TRUE(app->verify_start().failed());
    EXPECT_EQ(app->counts()->of_field, 19);
    EXPECT_GE(app->file_values().size(), 32U);
  }
}

/// A field of another deck.
TEST(Check, RejectsWhatIsNotOfTheDeck) {
  auto right = options_of({37, 23}, {1, -2});
  right.process_grid = process_grids(right, world_size()).front();
  const auto verdict = [&](const auto& change) {
    auto wrong = right;
    change(wrong);
    const auto cartesian = grid::make_cartesian(miniapp::test::world(), right.process_grid, {true, true});
    const auto block = grid::make_block({.extents = right.cells, .lower = {}, .spacing = {}}, cartesian);
    const auto field = grid::make_field<double>("u", block);
    const auto values = by_loops(wrong);
    grid::set_values(field, block, [&](double x, double y, double) {
      return values[static_cast<std::size_t>(y) * 37 + static_cast<std::size_t>(x)];
    });
    return compare(cartesian, right, block, field);
  };
  expect_passed(verdict([](Options&) {}));
  EXPECT_TRUE(verdict([](Options& o) { ++o.steps; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { --o.steps; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { o.courant *= 1 + 1e-9; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { o.velocity[1] *= 1 + 1e-9; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { o.velocity[0] *= -1; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { o.waves = {2, 1}; }).failed());
}

/// The same bits, from a file of other ranks.
TEST(Advection, ResumesFromACheckpointOnOtherRanks) {
  const miniapp::test::Folder folder("advection");
  auto options = options_of({37, 23}, {1, -2});
  options.steps = 60;
  const auto expected = by_loops(options);
  for (const int from : miniapp::test::some_ranks()) {
    const auto path = folder / fmt::format("from-{}.h5", from);
    if (const auto writers = miniapp::test::first_ranks(from); writers != MPI_COMM_NULL) {
      auto begun = options;
      begun.steps = 37; // in the other field than the first
      begun.process_grid = process_grids(options, from).back();
      const App app(begun, comm::Communicator(writers));
      app->run();
      app.field(begun, path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const output::Reader reader(MPI_COMM_WORLD, path);
    options.process_grid = process_grids(options, world_size()).front();
    const App app(options);
    app->read_state(reader);
    app->run();
    EXPECT_TRUE(app.field(options, folder / "resumed.h5") == expected) << from;
    EXPECT_DOUBLE_EQ(app->figures(2.0, {}).front().value, 37 * 23 * 23 / 2.0);
    auto few = options;
    few.steps = 37;
    const App done(few);
    expect_facts(error_of([&] { done->read_state(reader); }), {"solver.steps is 37", path});
  }
}

TEST(Advection, RecordsWhatIsSentDownwind) {
  auto options = options_of({36, 24}, {1, 1});
  options.process_grid = {world_size(), 1};
  const App app(options);
  std::int64_t bytes = 0;
  for (const auto& traffic : app->record().traffic) bytes += traffic.bytes;
  EXPECT_EQ(bytes, 8 * (36 / world_size() + 24));
}

TEST(Advection, SaysWhatProvesNothing) {
  auto decayed = options_of({16, 16}, {1, 1});
  decayed.waves = {8, 8};
  decayed.steps = 1000;
  auto round = options_of({16, 16}, {1, 0}); // whole rounds
  round.courant = 1;
  round.steps = 32;
  for (auto* const options : {&decayed, &round}) {
    options->process_grid = process_grids(*options, world_size()).front();
    const App app(*options);
    app->run();
    EXPECT_FALSE(app->verify().conclusive);
  }
}

Options read(const std::string& problem, int ranks) {
  return miniapp::test::sized<Options>("advection", "problem: {" + problem + "}", ranks, 1e8);
}

TEST(Options, RejectWhatCannotRun) {
  const auto refused = [](const std::string& problem, int ranks, const std::vector<std::string>& facts) {
    expect_facts(error_of([&] { read(problem, ranks); }), facts, problem);
  };
  refused("cells: [2, 1], waves: [1, 0]", 3, {"problem.cells", "[2, 1]", "3 ranks", "use fewer ranks or more cells"});
  refused("velocity: [0, 0]", 1, {"problem.velocity"});
  refused("waves: [33, 1]", 1, {"problem.waves", "33", "axis x of 64", "1 to half"});
  refused("waves: [1, 0]", 1, {"problem.waves", "axis y"});
  refused("courant: 1.1", 1, {"problem.courant"});
}

/// Two fields; ghosts and padding are little beside so many cells.
TEST(Options, SizeOfARankAndOfAShareOfMemory) {
  for (const int ranks : {1, 2, 6}) {
    const auto cells = [&](const std::string& problem) {
      const auto sizes = read(problem, ranks).cells;
      return static_cast<double>(sizes[0] * sizes[1]);
    };
    EXPECT_EQ(cells("cells: [50, 40], local: true"), 2000 * ranks);
    EXPECT_NEAR(cells("memory_share: 0.5") / (0.5 * 1e8 / 16 * ranks), 1, 0.02);
  }
}

} // namespace
} // namespace kontor::advection

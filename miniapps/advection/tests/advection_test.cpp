// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The field has the bits of a textbook loop on any ranks, and the verification finds what it is not.
#include "advection/advection.hpp"
#include "advection/check/exact.hpp"
#include "grid/for_cells.hpp"
#include "grid/make_field.hpp"
#include "grid/process_grid.hpp"
#include "methods.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"
#include "run/tests/sized.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/output/values_at.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <numbers>

namespace kontor::advection {
namespace {

using miniapp::test::world_size;

/// The deck of a problem, on so many ranks.
Options read(const std::string& problem, std::int64_t steps = 19, int ranks = world_size()) {
  const auto text = fmt::format("problem: {{{}}}\nsolver: {{steps: {}}}", problem, steps);
  return miniapp::test::sized<Options>("advection", text, ranks, 1e8);
}

/// With all that a run lends it.
struct App : miniapp::test::Loan {
  std::unique_ptr<miniapp::MiniApp> app;

  explicit App(const Options& options, const comm::Options& method = {}, bool overlap = true,
               MPI_Comm ranks = MPI_COMM_WORLD)
      : Loan("advection", comm::Communicator(ranks, method)), app(make_advection(options, context(overlap))) {
    app->warm_up();
    app->reset();
  }
  miniapp::MiniApp* operator->() const { return app.get(); }

  /// Collective. The whole field, x fastest, by way of a checkpoint.
  std::vector<double> field(const Options& options, const std::string& path) const {
    output::File file(comm.native(), path);
    app->write_state(file);
    file.commit();
    std::vector<std::vector<std::uint64_t>> places;
    for (std::int64_t n = 0; n < options.cells[0] * options.cells[1]; ++n)
      places.push_back(
          {static_cast<std::uint64_t>(n / options.cells[0]), static_cast<std::uint64_t>(n % options.cells[0])});
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
  const auto each = [&](const auto& cell) {
    for (std::int64_t j = 0; j < ny; ++j)
      for (std::int64_t i = 0; i < nx; ++i) u[at(i, j)] = cell(i, j);
  };
  const auto waves = [&](std::size_t axis, std::int64_t i) {
    return static_cast<double>(o.waves[axis]) * ((static_cast<double>(i) + 0.5) * o.width(axis)) / o.size[axis];
  };
  each([&](auto i, auto j) { return std::sin(2 * std::numbers::pi * (waves(0, i) + waves(1, j))); });
  const double cx = std::abs(o.velocity[0]) * o.time_step() / o.width(0);
  const double cy = std::abs(o.velocity[1]) * o.time_step() / o.width(1);
  const int x = o.velocity[0] < 0 ? 1 : -1, y = o.velocity[1] < 0 ? 1 : -1;
  for (std::int64_t n = 0; n < o.steps; ++n)
    each([&, v = u](auto i, auto j) {
      const double old = v[at(i, j)];
      return old - cx * (old - v[at(i + x, j)]) - cy * (old - v[at(i, j + y)]);
    });
  return u;
}

/// Odd shapes, all signs, all process grids, methods in turn, with overlap and without.
TEST(Advection, HasTheBitsOfLoopsOnAnyRanks) {
  const miniapp::test::Folder folder("advection-bits");
  const auto methods = device::kernels_on_host ? comm::test::methods() : comm::test::device_methods();
  std::size_t turn = 0;
  for (const auto* shape : {"[37, 23], waves: [3, 1]", "[1, 19], waves: [0, 1]", "[21, 1], waves: [1, 0]",
                            "[7, 6], waves: [1, 2]", "[3, 40], waves: [1, 2]"})
    for (const auto* velocity : {"[1, 0.5]", "[-1, 2]", "[0.1, -3]", "[-2, -2]", "[0, -1]"}) {
      const auto problem = fmt::format("cells: {}, size: [3, 2], velocity: {}", shape, velocity);
      auto options = read(problem);
      const auto expected = by_loops(options);
      for (std::int64_t x = 1; x <= world_size(); ++x) {
        options.process_grid = {x, world_size() / x};
        if (world_size() % x > 0 || x > options.cells[0] || world_size() / x > options.cells[1]) continue;
        const auto& method = methods[turn++ % methods.size()];
        for (const bool overlap : {false, true}) {
          const auto words = fmt::format("{}, {}, {}, overlap {}", problem, fmt::join(options.process_grid, " x "),
                                         comm::to_string(method), overlap);
          const App app(options, method, overlap);
          app->run();
          EXPECT_TRUE(app.field(options, folder / "u.h5") == expected) << words;
          EXPECT_TRUE(app->verify_launches().passed()) << words;
        }
      }
    }
}

TEST(Advection, VerifiesWhatItHasAdvancedAndNothingElse) {
  const App app(read("cells: [37, 23], velocity: [-1, 3]"));
  EXPECT_TRUE(app->verify_start().passed());
  EXPECT_TRUE(app->verify().failed());
  app->run();
  EXPECT_TRUE(app->verify().passed()) << app->verify().error;
  EXPECT_TRUE(app->verify_start().failed());
}

/// Fields of other decks.
TEST(Check, RejectsWhatIsNotOfTheDeck) {
  const auto right = read("cells: [37, 23], velocity: [1, -2]");
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
  EXPECT_TRUE(verdict([](Options&) {}).passed());
  EXPECT_TRUE(verdict([](Options& o) { ++o.steps; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { --o.steps; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { o.courant *= 1 + 1e-9; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { o.velocity[1] *= 1 + 1e-9; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { o.velocity[0] *= -1; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { o.waves = {2, 1}; }).failed());
}

/// A wave that has decayed, and whole rounds.
TEST(Check, SaysWhatProvesNothing) {
  for (const auto* problem : {"waves: [8, 8]", "velocity: [1, 0], courant: 1"}) {
    const App app(read(fmt::format("cells: [16, 16], {}", problem), 640));
    app->run();
    EXPECT_FALSE(app->verify().conclusive) << problem;
  }
}

/// The same bits, from files of other ranks.
TEST(Advection, ResumesFromACheckpointOnOtherRanks) {
  const miniapp::test::Folder folder("advection");
  const std::string problem = "cells: [37, 23], velocity: [1, -2]";
  const auto expected = by_loops(read(problem, 60));
  for (const int from : miniapp::test::some_ranks()) {
    const auto path = folder / fmt::format("from-{}.h5", from);
    if (const auto writers = miniapp::test::first_ranks(from); writers != MPI_COMM_NULL) {
      const auto options = read(problem, 37, from); // in the other field than the first
      const App app(options, {}, true, writers);
      app->run();
      app.field(options, path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const output::Reader reader(MPI_COMM_WORLD, path);
    const App app(read(problem, 60));
    app->read_state(reader);
    app->run();
    EXPECT_TRUE(app.field(read(problem, 60), folder / "resumed.h5") == expected) << from;
    EXPECT_DOUBLE_EQ(app->figures(2.0, {}).front().value, 37 * 23 * 23 / 2.0);
    const App done(read(problem, 37));
    const auto error = miniapp::test::error_of([&] { done->read_state(reader); });
    miniapp::test::expect_facts(error, {"solver.steps is 37", path});
  }
}

/// A column of cells; that above, which wraps, is copied.
TEST(Advection, SendsDownwindOnly) {
  auto options = read("cells: [36, 24]");
  options.process_grid = {world_size(), 1};
  std::int64_t bytes = 0;
  const auto record = App(options)->record();
  for (const auto& traffic : record.at("traffic")) bytes += traffic.at("bytes").get<std::int64_t>();
  EXPECT_EQ(bytes, world_size() > 1 ? 8 * 24 : 0);
}

TEST(Options, RejectWhatCannotRun) {
  const auto refused = [](const std::string& problem, const std::vector<std::string>& facts) {
    miniapp::test::expect_facts(miniapp::test::error_of([&] { read(problem, 1, 3); }), facts, problem);
  };
  refused("cells: [2, 1], waves: [1, 0]", {"problem.cells", "[2, 1]", "3 ranks", "use fewer ranks or more cells"});
  refused("velocity: [0, 0]", {"problem.velocity"});
  refused("velocity: [1e308, 1e308]", {"problem.velocity", "problem.size"});
  refused("waves: [33, 1]", {"problem.waves", "33", "axis x of 64", "1 to half"});
  refused("waves: [1, 0]", {"problem.waves", "axis y"});
  EXPECT_EQ(read("cells: [50, 40], local: true").cells[1] * read("cells: [50, 40], local: true").cells[0],
            2000 * world_size());
}

} // namespace
} // namespace kontor::advection

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification passes what is right, and fails what is wrong by little; sizes of a rank and of a share of memory.
#include "run.hpp"
#include "run/tests/sized.hpp"

#include <kontor/config/error.hpp>

#include <gtest/gtest.h>

namespace kontor::heat::test {
namespace {

constexpr const char* fixed_sweeps = R"deck(
app: heat
problem:
  cells: [24, 17]
  initial: "x + y^2"
  source: 1
  boundary: {x_min: {dirichlet: "y"}, x_max: {neumann: 1}}
solver: {tolerance: 0, max_sweeps: 20}
)deck";

constexpr const char* converging = R"deck(
app: heat
problem:
  cells: [24, 17]
  source: "x"
solver: {tolerance: 1.0e-10}
)deck";

constexpr const char* stepping = R"deck(
app: heat
problem:
  equation: transient
  cells: [9, 8, 7]
  initial: "x*y*z"
  source: "t*x"
  boundary: {z_max: {dirichlet: "t"}}
time: {end: 0.01}
)deck";

/// The current field's own cell (i, j, 0), if this is the rank.
void set_cell(const Domain<double>& domain, std::int64_t i, std::int64_t j, double value, bool here) {
  if (!here) return;
  Kokkos::deep_copy(grid::view_of(domain.field(domain.current()), domain.block(), {{i, j, 0}, {i + 1, j + 1, 1}}),
                    value);
}

TEST(Start, IsThatOfTheDeck) {
  const Problem<double> problem(fixed_sweeps);
  EXPECT_TRUE(problem.heat->verify_start().passed());
  set_cell(problem.heat->domain(), 0, 0, 0.5, problem.comm.rank() == problem.comm.size() - 1); // each rank's corner
  EXPECT_EQ(problem.heat->verify_start().error, 1);
}

TEST(Counts, AreThoseOfTheDeck) {
  for (const auto* deck : {fixed_sweeps, converging, stepping}) {
    const Problem<double> problem(deck);
    EXPECT_TRUE(problem.heat->verify_launches().passed());
    problem.heat->reset();
    problem.heat->run();
    const auto counts = problem.heat->counts();
    EXPECT_TRUE(miniapp::verify_counts(*counts).passed());
    EXPECT_EQ(counts->of_deck.has_value(), deck != converging);
    EXPECT_EQ(counts->end_of_deck.has_value(), deck == stepping);
  }
}

/// A run without sweeps would pass.
TEST(Start, MustNotBeTheAnswer) {
  for (const auto* problem : {"initial: x, exact: x, boundary: {x_max: {dirichlet: 1}, y_min: {neumann: 0}, y_max: "
                              "{neumann: 0}}",
                              "initial: 1, boundary: {x_min: {dirichlet: 1}, x_max: {dirichlet: 1}, y_min: periodic, "
                              "y_max: periodic}"}) {
    const auto result = verified(std::string("app: heat\nproblem: {cells: [16, 12], ") + problem +
                                 "}\nsolver: {tolerance: 0, max_sweeps: 30}\n");
    EXPECT_FALSE(result.conclusive) << problem;
  }
}

/// The bound is proved, so that no right answer may be above it, however few cells there are.
TEST(Bound, HoldsOnTinyGrids) {
  for (const auto* cells : {"[1, 1]", "[2, 1]", "[1, 2]", "[3, 2]", "[2, 5]"}) {
    const auto deck = std::string("app: heat\nproblem:\n  cells: ") + cells + R"deck(
  boundary:
    x_min: {dirichlet: 0}
    x_max: {dirichlet: 0}
    y_min: {dirichlet: 0}
    y_max: {dirichlet: "sin(pi*x)"}
  exact: "sin(pi*x)*sinh(pi*y)/sinh(pi)"
)deck";
    const Problem<double> problem(read_options(deck, 1), MPI_COMM_SELF);
    problem.run();
    const auto result = problem.heat->verify();
    EXPECT_TRUE(result.error <= result.tolerance) << cells << ": " << result.error << " > " << result.tolerance;
  }
}

class Residual : public testing::TestWithParam<const char*> {};

TEST_P(Residual, PassesWithoutExactSolution) {
  const Problem<double> problem(GetParam());
  problem.heat->run();
  const auto result = problem.heat->verify();
  EXPECT_TRUE(result.passed()) << result.error;
  EXPECT_EQ(problem.timers.entries().contains("formulas"), GetParam() == stepping);
}

TEST_P(Residual, SeesOneWrongCell) {
  for (const double wrong : {1e-6, std::numeric_limits<double>::quiet_NaN()}) {
    const Problem<double> problem(GetParam());
    problem.heat->run();
    const auto& domain = problem.heat->domain();
    const auto i = domain.block().extents[0] - 1;
    const auto j = domain.block().extents[1] - 1;
    set_cell(domain, i, j, domain.current_on_host()(0, j, i) + wrong, problem.comm.rank() == problem.comm.size() - 1);
    const auto result = problem.heat->verify();
    EXPECT_FALSE(result.passed()) << result.measure << ": " << result.error << " within " << result.tolerance;
  }
}

INSTANTIATE_TEST_SUITE_P(Heat, Residual, testing::Values(fixed_sweeps, converging, stepping));

/// What is left to `auto` is chosen once, for the halos of both fields.
TEST(Halos, GoTheSameWay) {
  const comm::Communicator comm(MPI_COMM_WORLD, {.backend = comm::automatic_backend});
  if (comm.size() == 1) GTEST_SKIP() << "one rank has no halos";
  const auto options = read_options("{app: heat, problem: {cells: [24, 18]}}", comm.size());
  Domain<double> domain(options, comm);
  miniapp::Timers timers{"heat"};
  const Sweeper<double> sweeper(domain, false, timers);
  const auto &first = sweeper.halo(0), &second = sweeper.halo(1);
  EXPECT_GT(first.timed_methods().size(), 1u);
  EXPECT_EQ(second.timed_methods().size(), 1u);
  EXPECT_EQ(second.chosen().backend, first.chosen().backend);
  EXPECT_EQ(second.chosen().pattern, first.chosen().pattern);
  EXPECT_EQ(second.chosen().packing, first.chosen().packing);
}

TEST(Convergence, TheDefaultToleranceKnowsThePrecision) {
  for (const char* tolerance : {"", "solver: {tolerance: 1.0e-12}\n"}) {
    const auto deck = std::string("app: heat\nproblem: {cells: [48, 40], precision: float, source: 10}\n") + tolerance;
    const auto result = verified<float>(deck);
    EXPECT_TRUE(result.passed()) << result.error << " against " << result.tolerance << ' ' << result.remark;
  }
  EXPECT_EQ(read_options("app: heat\nproblem: {precision: float}\n", 1).tolerance, 5e-7);
  EXPECT_EQ(read_options("app: heat\n", 1).tolerance, 1e-8);
}

TEST(Convergence, SweepsThatDidNotDoAreNamed) {
  const auto result = verified<double>("app: heat\nproblem: {cells: [24, 20], source: 1}\nsolver: {max_sweeps: 7}\n");
  EXPECT_FALSE(result.passed());
  EXPECT_NE(result.remark.find("not reached in 7 sweeps"), std::string::npos) << result.remark;
}

/// Floats of this problem end up going to and fro between two fields.
TEST(Convergence, WhatAFloatCannotReachIsExplained) {
  const auto result = verified<float>(R"deck(
app: heat
problem:
  precision: float
  cells: [120, 9]
  source: "16*pi^2*sin(4*pi*x)"
  boundary: {y_min: {neumann: 0}, y_max: {neumann: 0}}
solver: {tolerance: 1.0e-8, max_sweeps: 50000}
)deck");
  EXPECT_TRUE(result.passed()) << result.error << " against " << result.tolerance << ' ' << result.remark;
  EXPECT_NE(result.remark.find("float rounds by up to"), std::string::npos) << result.remark;
}

TEST(Exact, ANotANumberFails) {
  const Problem<double> problem("app: heat\nproblem: {cells: [8, 8], initial: 1, exact: 0}\n");
  problem.heat->run();
  EXPECT_TRUE(problem.heat->verify().passed());
  set_cell(problem.heat->domain(), 0, 0, std::numeric_limits<double>::quiet_NaN(),
           problem.comm.rank() == problem.comm.size() - 1);
  EXPECT_FALSE(problem.heat->verify().passed());
}

TEST(Exact, IsLookedAtBeforeTheRun) {
  const char* const deck = R"deck(
app: heat
problem:
  equation: transient
  cells: [9, 8]
  exact: "t > 0.05 && x > 0.9 && y > 0.9 ? 1/(x-x) : 0"
time: {end: 0.06}
)deck";
  EXPECT_THROW(Problem<double>{deck}, config::Error);
}

Options sized(const std::string& problem, int ranks, double free_memory) {
  return miniapp::test::sized<Options>("heat", "problem: {" + problem + "}", ranks, free_memory);
}

double cells(const Options& options) {
  double product = 1;
  for (const auto n : options.cells) product *= static_cast<double>(n);
  return product;
}

TEST(Sizes, OfARank) {
  for (const int ranks : {1, 2, 3}) {
    const auto options = sized("cells: [24, 20, 16], local: true", ranks, 0);
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_EQ(options.cells[axis], (std::array{24, 20, 16})[axis] * options.process_grid[axis]);
    EXPECT_EQ(cells(options), 24. * 20 * 16 * ranks);
  }
}

/// Two fields, and a source where there is one; ghosts and padding are a few per cent of so many cells.
TEST(Sizes, FillAShareOfMemory) {
  constexpr double free = 8e8;
  for (const int ranks : {1, 2, 3})
    for (const std::string local : {"", ", local: true"}) {
      SCOPED_TRACE(std::to_string(ranks) + local);
      const auto filled = [&](const std::string& more) {
        return cells(sized("cells: [40, 30], memory_share: 0.25" + more + local, ranks, free)) / ranks;
      };
      EXPECT_NEAR(filled(""), 0.25 * free / 16, 0.005 * free / 16);
      EXPECT_NEAR(filled(", precision: float"), 0.25 * free / 8, 0.005 * free / 8);
      EXPECT_NEAR(filled(", source: x"), 0.25 * free / 24, 0.005 * free / 24);
      EXPECT_LE(filled(""), 0.25 * free / 16);
    }
}

} // namespace
} // namespace kontor::heat::test

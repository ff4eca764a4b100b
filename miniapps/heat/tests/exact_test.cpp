// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The automatic tolerance beside an exact solution: right answers pass, wrong ones do not, and what it cannot tell
// apart is said to be so.
#include "grid/make_field.hpp"
#include "heat/check/decay.hpp"
#include "heat/check/terms.hpp"
#include "run.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kontor::heat::test {
namespace {

/// A problem with an exact solution: what stands under `problem:`, and the sections after it.
struct Exact {
  const char* name;
  std::string problem;
  const char* rest = "";
};

std::string deck_of(const Exact& e, const char* more_of_problem = "") {
  return fmt::format("app: heat\nproblem:\n{}{}{}", e.problem, more_of_problem, e.rest);
}

std::string plate_of(const char* cells, const char* factor = "") {
  return fmt::format(R"deck(
  cells: {}
  boundary: {{y_max: {{dirichlet: "sin(pi*x)"}}}}
  exact: "{}sin(pi*x)*sinh(pi*y)/sinh(pi)"
)deck",
                     cells, factor);
}
const std::string plate = plate_of("[24, 20]");

std::string eigenvector(const char* sweeps) {
  return fmt::format(R"deck(
  cells: [33, 20]
  boundary: {{x_min: periodic, x_max: periodic, y_min: periodic, y_max: periodic}}
  initial: "sin(2*pi*x)*sin(2*pi*y)"
  exact: "((33^2*cos(2*pi/nx)+20^2*cos(2*pi/ny))/(33^2+20^2))^{}*sin(2*pi*x)*sin(2*pi*y)"
)deck",
                     sweeps);
}

std::string decay(const char* factor = "") {
  return fmt::format(R"deck(
  equation: transient
  cells: [16, 13]
  initial: "{}sin(pi*x)*sin(pi*y)"
  exact: "exp(-2*pi^2*t)*sin(pi*x)*sin(pi*y)"
)deck",
                     factor);
}

const Exact right[] = {
    {"plate", plate},
    {"on_few_cells", plate_of("[6, 5]")},
    {"far_from_zero", R"deck(
  cells: [14, 20]
  initial: 500
  boundary: {x_min: {dirichlet: 500}, x_max: {dirichlet: 501}, y_min: {neumann: 0}, y_max: {neumann: 0}}
  exact: "500+x"
)deck",
     "solver: {tolerance: 1.0e-9}\n"},
    {"one_cell_wide", R"deck(
  cells: [30, 1]
  source: "pi^2*sin(pi*x)"
  boundary: {y_min: periodic, y_max: periodic}
  exact: "sin(pi*x)"
)deck"},
    {"one_cell_wide_insulated_in_3d", R"deck(
  cells: [1, 30, 1]
  source: "-12*y^2"
  boundary: {x_min: {neumann: 0}, x_max: {neumann: 0}, y_max: {dirichlet: 1}, z_min: periodic, z_max: periodic}
  exact: "y^4"
)deck"},
    {"finer_than_the_domain", R"deck(
  cells: [120, 9]
  source: "16*pi^2*sin(4*pi*x)"
  boundary: {y_min: {neumann: 0}, y_max: {neumann: 0}}
  exact: "sin(4*pi*x)"
)deck"},
    {"slopes_given", R"deck(
  cells: [20, 24]
  domain: {lower: [-1, 0], upper: [1, 0.5]}
  diffusivity: 4
  source: "-4*exp(x)*(y^3 + 6*y)"
  boundary: {x_min: {neumann: "-exp(x)*y^3"}, x_max: {dirichlet: "exp(x)*y^3"},
    y_min: {neumann: "-3*exp(x)*y^2"}, y_max: {dirichlet: "exp(x)*y^3"}}
  exact: "exp(x)*y^3"
)deck"},
    {"constant", R"deck(
  cells: [12, 9]
  boundary: {x_min: {dirichlet: 2}, x_max: {dirichlet: 2}, y_min: {dirichlet: 2}, y_max: {dirichlet: 2}}
  exact: 2
)deck"},
    {"enough_sweeps", plate, "solver: {tolerance: 0, max_sweeps: 2000}\n"},
    {"sweeps_known", eigenvector("sweeps"), "solver: {tolerance: 0, max_sweeps: 100}\n"},
    {"decay", decay(), "time: {end: 0.05}\n"},
    {"decay_to_little", decay(), "time: {end: 0.2}\n"},
    {"at_the_largest_step", R"deck(
  equation: transient
  cells: [16, 16]
  initial: "x^2*(1+y)"
  source: "cos(t) - 2*(1+y)"
  boundary: {x_min: {dirichlet: "sin(t)"}, x_max: {neumann: "2*(1+y)"},
    y_min: {dirichlet: "sin(t)+x^2"}, y_max: {dirichlet: "sin(t)+2*x^2"}}
  exact: "sin(t)+x^2*(1+y)"
)deck",
     "time: {end: 1, step: 0.0009765625}\n"},
    {"transient_in_3d", R"deck(
  equation: transient
  cells: [9, 8, 7]
  diffusivity: 0.25
  initial: "sin(2*pi*x)*cos(pi*y)*z"
  boundary: {x_min: periodic, x_max: periodic, y_min: {neumann: 0}, y_max: {neumann: 0},
    z_max: {dirichlet: "exp(-1.25*pi^2*t)*sin(2*pi*x)*cos(pi*y)"}}
  exact: "exp(-1.25*pi^2*t)*sin(2*pi*x)*cos(pi*y)*z"
)deck",
     "time: {end: 0.1}\n"},
};

class RightAnswer : public testing::TestWithParam<Exact> {};

TEST_P(RightAnswer, PassesInBothPrecisions) {
  const auto expect_passed = [](const miniapp::Verification& result) {
    EXPECT_TRUE(result.passed()) << result.error << " against " << result.tolerance << ' ' << result.remark;
    EXPECT_EQ(result.remark, "");
  };
  expect_passed(verified<double>(deck_of(GetParam())));
  expect_passed(verified<float>(deck_of(GetParam(), "  precision: float\n")));
}

/// All cells of each rank's block but the last column take the value of the next one.
void shift(const Domain<double>& domain) {
  const auto& block = domain.block();
  auto to = block.all();
  auto from = block.all();
  --to.end[0];
  ++from.begin[0];
  const auto& field = domain.field(domain.current());
  const auto values = grid::view_of(field, block, from);
  const Kokkos::View<double***, Kokkos::LayoutRight> copy("copy", values.extent(0), values.extent(1), values.extent(2));
  grid::copy_values(copy, values);
  grid::copy_values(view_of(field, block, to), copy);
}

TEST_P(RightAnswer, FailsWhenShiftedByOneCell) {
  const Problem<double> problem(deck_of(GetParam()));
  problem.heat->run();
  const auto& domain = problem.heat->domain();
  const int wide = domain.block().extents[0] > 1 ? 1 : 0;
  const std::string name = GetParam().name;
  if (comm::allreduce(problem.comm, wide, comm::ReduceOp::max) == 0 || name == "constant") GTEST_SKIP();
  if (wide == 1) shift(domain);
  const auto result = problem.heat->verify();
  EXPECT_FALSE(result.passed()) << result.error << " within " << result.tolerance;
  EXPECT_TRUE(result.conclusive);
}

TEST_P(RightAnswer, FailsWithoutHalos) {
  if (world_size() == 1 || std::string(GetParam().name) == "constant") GTEST_SKIP();
  const Problem<double> problem(deck_of(GetParam()), {.backend = "null"});
  problem.heat->run();
  const auto result = problem.heat->verify();
  EXPECT_FALSE(result.passed()) << result.error << " within " << result.tolerance;
}

INSTANTIATE_TEST_SUITE_P(Heat, RightAnswer, testing::ValuesIn(right),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// Decks whose exact solution is not that of the problem, or whose runs stop too soon.
const Exact wrong[] = {
    {"a_percent_more", plate_of("[24, 20]", "1.01*")},
    {"another_source", R"deck(
  cells: [30, 1]
  source: "pi^2*sin(pi*x) + 0.1"
  boundary: {y_min: periodic, y_max: periodic}
  exact: "sin(pi*x)"
)deck"},
    {"one_sweep_more", eigenvector("(sweeps+1)"), "solver: {tolerance: 0, max_sweeps: 100}\n"},
    {"another_initial_value", decay("1.03*"), "time: {end: 0.05}\n"},
    {"not_converged", plate, "solver: {max_sweeps: 300}\n"},
};

class WrongAnswer : public testing::TestWithParam<Exact> {};

TEST_P(WrongAnswer, Fails) {
  const auto result = verified<double>(deck_of(GetParam()));
  EXPECT_FALSE(result.passed()) << result.error << " within " << result.tolerance;
  EXPECT_TRUE(result.conclusive) << result.remark;
}

INSTANTIATE_TEST_SUITE_P(Heat, WrongAnswer, testing::ValuesIn(wrong),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// Runs that the automatic tolerance cannot judge, and what they are told.
struct Doubtful {
  Exact deck;
  const char* says;
};

const std::string large_constant = R"deck(
  cells: [24, 20]
  boundary: {x_min: {dirichlet: 500}, x_max: {dirichlet: 501}, y_min: {neumann: 0}, y_max: {neumann: 0}}
  exact: "500+x"
)deck";

const Doubtful doubtful[] = {
    {{"loose_tolerance", plate, "solver: {tolerance: 1.0e-3}\n"}, "solver.tolerance to "},
    {{"few_sweeps", plate, "solver: {tolerance: 0, max_sweeps: 50}\n"}, "50 sweeps"},
    {{"large_constant", large_constant, "solver: {tolerance: 1.0e-3}\n"}, "solver.tolerance to "},
    {{"decayed", R"deck(
  cells: [8, 8]
  initial: "sin(2*pi*x)"
  boundary: {x_min: periodic, x_max: periodic, y_min: periodic, y_max: periodic}
  exact: "((cos(2*pi/nx)+1)/2)^sweeps*sin(2*pi*x)"
)deck",
      "solver: {tolerance: 0, max_sweeps: 400}\n"},
     "400 sweeps a repeat, 400 in all, leave an error of up to "},
    {{"few_cells", R"deck(
  cells: [3, 3]
  source: "4*pi^2*sin(2*pi*x)"
  boundary: {y_min: periodic, y_max: periodic}
  exact: "sin(2*pi*x)"
)deck"},
     "more cells"},
    {{"more_digits_than_a_float", large_constant + "  precision: float\n"}, "precision double"},
    {{"nothing", "\n  cells: [12, 9]\n  exact: 0\n"}, "nothing to verify"},
    {{"no_exact_solution", "\n  cells: [24, 20]\n  source: 1\n", "solver: {tolerance: 1.0e-3}\n"},
     "solver.tolerance to "},
};

class DoubtfulAnswer : public testing::TestWithParam<Doubtful> {};

TEST_P(DoubtfulAnswer, IsNotPassed) {
  const auto deck = deck_of(GetParam().deck);
  const auto result = deck.find("float") != deck.npos ? verified<float>(deck) : verified<double>(deck);
  EXPECT_FALSE(result.conclusive) << result.error << " against " << result.tolerance;
  EXPECT_FALSE(result.passed());
  EXPECT_NE(result.remark.find(GetParam().says), std::string::npos) << result.remark;
  const bool decayed = GetParam().deck.name == std::string("decayed");
  EXPECT_EQ(result.remark.find("make fewer: the field has decayed") != std::string::npos, decayed) << result.remark;
}

INSTANTIATE_TEST_SUITE_P(Heat, DoubtfulAnswer, testing::ValuesIn(doubtful),
                         [](const auto& instance) { return std::string(instance.param.deck.name); });

TEST(DoubtfulAnswer, TheToleranceThatIsAdvisedDoes) {
  const std::string says = "set solver.tolerance to ";
  const auto loose = verified<double>(deck_of({"", plate, "solver: {tolerance: 1.0e-3}\n"})).remark;
  const auto advised = std::stod(loose.substr(loose.find(says) + says.size()));
  const auto rest = fmt::format("solver: {{tolerance: {}, check_every: 1}}\n", advised);
  const auto result = verified<double>(deck_of({"", plate, rest.c_str()}));
  EXPECT_TRUE(result.passed()) << advised << ": " << result.remark;
  EXPECT_GT(result.error, 0.005) << "it could be looser";
}

TEST(DoubtfulAnswer, AToleranceOfTheDecksOwnStands) {
  const auto deck = deck_of({"", plate, "solver: {tolerance: 1.0e-3}\nverification: {tolerance: 2}\n"});
  EXPECT_TRUE(verified<double>(deck).passed());
}

/// Decay is an upper bound of what is left of 1 in every cell, and not much more.
TEST(Decay, BoundsWhatIsLeft) {
  const char* const walls = "    x_min: {dirichlet: 0}\n    x_max: {dirichlet: 0}\n";
  const char* const wall = "    x_min: {dirichlet: 0}\n    x_max: {neumann: 0}\n";
  const char* const none = "    y_min: {neumann: 0}\n    y_max: {neumann: 0}\n";
  const char* const round = "    y_min: periodic\n    y_max: periodic\n";
  for (const auto& faces :
       {std::string(walls), std::string(wall), std::string(walls) + none, wall + std::string(round)}) {
    for (const double end : {0.001, 0.01, 0.03, 0.1, 0.3}) {
      const auto deck = fmt::format("app: heat\nproblem:\n  equation: transient\n  cells: [12, 9]\n  initial: 1\n"
                                    "  boundary:\n{}time: {{end: {}}}\n",
                                    faces, end);
      const Problem<double> problem(deck);
      problem.heat->run();
      const auto& domain = problem.heat->domain();
      const double left = comm::allreduce(
          domain.comm(), range_of(domain.field(domain.current()), domain.block()).largest, comm::ReduceOp::max);
      const Decay decay(domain.options());
      EXPECT_LE(left, decay(end)) << deck;
      EXPECT_GT(left, 0.4 * decay(end)) << deck;
      double sum = 0;
      for (int n = 0; n < 1000; ++n) sum += decay((n + 0.5) * end / 1000) * end / 1000;
      EXPECT_NEAR(decay.integral(end), sum, 1e-3 * sum) << deck;
    }
  }
}

} // namespace
} // namespace kontor::heat::test

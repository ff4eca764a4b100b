// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each way in which an iteration ends.
#include "app.hpp"
#include "refusal.hpp"
#include "small_system.hpp"

#include <kontor/mpi/world.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

namespace kontor::cg::test {
namespace {

/// By each method, with and without jacobi where that makes sense.
template <class Check>
void by_all_methods(const SmallSystem& system, SolverOptions options, const Check& check) {
  options.graph = stepping::Graphs::off; // or it is tried each time
  const comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto method : all_methods)
    for (const bool as_on_device : {false, true}) {
      options.method = method;
      const auto solved = solve(comm, system, options, true, as_on_device);
      SCOPED_TRACE(testing::Message() << "method " << int(method) << " as on a device " << as_on_device << ": "
                                      << words(solved.outcome));
      check(solved, method);
    }
}

/// The residual grows from iteration 3 on, and is 0 after as many as there are rows.
SmallSystem growing() {
  auto system = line(24);
  for (int i = 0; i < 24; ++i)
    for (int j = 0; j < 24; ++j) system.matrix[i][j] *= std::pow(1.3, i + j);
  system.rhs.assign(24, 0);
  system.rhs[0] = 1;
  return system;
}

struct Stop {
  SmallSystem system;
  SolverOptions options;
  StopReason ending;
  std::int64_t iterations;
  Values x = {}; ///< empty: not looked at
};

TEST(StopReasons, AreThoseOfTheSystem) {
  auto zero = irregular(20), exact = line(4), negative = line(9);
  zero.rhs.assign(20, 0);
  exact.guess = {2, 3, 3, 2};
  negative.matrix[6][6] = -2;
  auto overflow = line(9), broken = line(9), infinite = line(9);
  overflow.rhs.assign(9, 1e200);
  broken.matrix[4][4] = std::numeric_limits<double>::quiet_NaN();
  infinite.rhs[8] = std::numeric_limits<double>::infinity();
  using enum StopReason;
  using enum PreconditionerKind;
  for (const auto& ending : {
           Stop{line(50), {.tolerance = 0, .max_iterations = 7}, all_iterations, 7},
           {line(50), {.tolerance = 1e-9, .max_iterations = 7}, limit, 7},
           {line(50), {.tolerance = 1e-9, .max_iterations = 25}, converged, 25}, // x is symmetric
           {diagonal({2, 2, 2, 2, 2}), {.tolerance = 0, .max_iterations = 40}, converged, 1, Values(5, 0.5)},
           {zero, {.tolerance = 0}, zero_rhs, 0, Values(20, 0)},
           {zero, {.tolerance = 1e-8}, zero_rhs, 0, Values(20, 0)},
           {exact, {.tolerance = 0}, exact_guess, 0, exact.guess},
           {exact, {.tolerance = 1e-8}, exact_guess, 0, exact.guess},
           {negative, {.preconditioner = jacobi}, indefinite, 0},
           {negative, {.preconditioner = chebyshev}, indefinite, 0},
           {negative, {.preconditioner = gauss_seidel}, indefinite, 0},
           {overflow, {}, not_finite, 0},
           {broken, {}, not_finite, 0},
           {infinite, {}, not_finite, 0},
           {growing(), {.tolerance = 1e-6, .stagnation = 10}, stagnation, 13},
           {growing(), {.tolerance = 1e-6, .stagnation = 0}, converged, 24},
           {growing(), {.tolerance = 1e-6, .stagnation = 25}, converged, 24},
       })
    by_all_methods(ending.system, ending.options, [&](const Solved& s, Method) {
      EXPECT_EQ(s.outcome.ending, ending.ending);
      EXPECT_EQ(s.outcome.iterations, ending.iterations);
      EXPECT_TRUE(ending.x.empty() || s.x == ending.x);
      EXPECT_TRUE(s.outcome.residual == 0 || ending.ending != zero_rhs);
    });
}

TEST(StopReasons, AreSuccessesOrNot) {
  for (int ending = 0; ending <= static_cast<int>(StopReason::not_finite); ++ending)
    EXPECT_EQ(succeeded(static_cast<StopReason>(ending)), ending < static_cast<int>(StopReason::limit));
}

TEST(StopReasons, IndefiniteAtOnce) {
  auto system = diagonal({1, 1});
  system.matrix = {{1, 2}, {2, 1}};
  system.rhs = {1, -1};
  for (const auto preconditioner :
       {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::chebyshev})
    by_all_methods(system, {.preconditioner = preconditioner, .tolerance = 1e-8}, [&](const Solved& s, Method) {
      EXPECT_FALSE(succeeded(s.outcome.ending));
      EXPECT_EQ(s.outcome.iterations, 0);
      EXPECT_EQ(s.x, Values(2, 0));
      if (preconditioner != PreconditionerKind::chebyshev) {
        EXPECT_EQ(s.outcome.ending, StopReason::indefinite);
      }
    });
}

TEST(StopReasons, IndefiniteLater) {
  by_all_methods(diagonal({4, 3, 2, 1, -1}), {.tolerance = 1e-12}, [](const Solved& s, Method method) {
    EXPECT_TRUE(s.outcome.ending == StopReason::indefinite ||
                (method != Method::classic && s.outcome.ending == StopReason::breakdown));
    EXPECT_GT(s.outcome.iterations, 0);
    EXPECT_EQ(s.history.size(), s.outcome.iterations + 1u);
  });
}

TEST(StopReasons, AllIterationsThoughRoundingLeavesNoStep) {
  by_all_methods(irregular(61), {.replace_every = 5, .tolerance = 0, .max_iterations = 150},
                 [](const Solved& s, Method) {
                   EXPECT_EQ(s.outcome.ending, StopReason::all_iterations);
                   EXPECT_EQ(s.outcome.iterations, 150);
                   EXPECT_LT(s.outcome.residual, 1e-12);
                 });
}

TEST(Verification, FailsWhateverTheResidualUnlessTheEndingIsASuccess) {
  SolvedOnce solved(irregular(20), {});
  EXPECT_TRUE(solved.verified().passed());
  for (const auto ending : {StopReason::limit, StopReason::indefinite, StopReason::indefinite_preconditioner,
                            StopReason::breakdown, StopReason::stagnation, StopReason::not_finite}) {
    solved.outcome.ending = ending;
    const auto result = solved.verified();
    EXPECT_TRUE(result.failed());
    EXPECT_NE(result.remark.find(words(solved.outcome)), std::string::npos) << result.remark;
  }
}

/// With tolerance 0 the residual may be of any size, but it is that of the recurrence.
TEST(Verification, FailsAResidualThatIsNotTheRecurrences) {
  SolvedOnce solved(irregular(20), {.tolerance = 0, .max_iterations = 4});
  const auto residual = solved.outcome.residual;
  EXPECT_GT(residual, 1e-4);
  EXPECT_LT(solved.verified().error, 1e-14);
  for (const auto& [more, passes] : {std::pair(0.0, true), {5e-9, true}, {1.5e-8, false}}) {
    solved.outcome.residual = residual + more;
    const auto result = solved.verified();
    EXPECT_EQ(result.passed(), passes) << more;
    EXPECT_NE(result.measure.find("recurrence"), std::string::npos) << result.measure;
  }
  solved.outcome.residual = residual;
  if (mpi::world_rank() == 0) // a solution that the iteration did not make
    Kokkos::deep_copy(Kokkos::subview(solved.solution(), std::pair(0, 1)), 1.0);
  EXPECT_TRUE(solved.verified().failed());
}

/// An iteration cannot tell entries whose squares are 0 from 0; of either nothing is solved.
TEST(Verification, IsInconclusiveWhereTheRightHandSideIs0) {
  for (const double entry : {0.0, -1e-200}) {
    auto system = line(9);
    system.rhs.assign(9, 0);
    system.rhs[8] = entry;
    SolvedOnce solved(system, {});
    ASSERT_EQ(solved.outcome.ending, StopReason::zero_rhs);
    const auto result = solved.verified();
    EXPECT_FALSE(result.passed());
    EXPECT_FALSE(result.conclusive);
    EXPECT_EQ(result.remark.find("1e-200") == std::string::npos, entry == 0) << result.remark;
  }
}

TEST(StopReasons, AreTold) {
  expect_facts(cg::words(Outcome{StopReason::limit, 4, 3.1e-9}),
               {"solver.max_iterations", "after 4 iterations", "3.10e-09"});
  std::set<std::string_view> words;
  for (int ending = 0; ending <= static_cast<int>(StopReason::not_finite); ++ending)
    words.insert(keyword(static_cast<StopReason>(ending)));
  EXPECT_EQ(words.size(), static_cast<std::size_t>(StopReason::not_finite) + 1);
  for (const auto word : words)
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << word;
}

/// A stencil of 8 x 8 x 8 points on all ranks.
Options cube_of_points(const comm::Communicator& comm) {
  Options options;
  options.stencil.points = {8, 8, 8};
  options.process_grid = {comm.size(), 1, 1};
  return options;
}

/// What the verification has found is in the record.
TEST(Cg, RecordsHowNearItHasCome) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  auto options = cube_of_points(comm);
  options.solver.preconditioner = PreconditionerKind::chebyshev;
  options.solver.format = Format::sell;
  options.solver.tolerance = 1e-6;
  App app(options, comm);
  app.run();
  EXPECT_FALSE(app.cg.record().extras.contains("true_residual")); // with a backend that moves nothing
  EXPECT_TRUE(app.cg.verify().passed());
  const auto extras = app.cg.record().extras;
  EXPECT_EQ(extras["ending"], "converged");
  EXPECT_NEAR(extras["true_residual"], extras["residual"], 1e-12);
  EXPECT_GT(extras["true_residual"], 0);
  EXPECT_GT(extras["error"], 0);
  EXPECT_LT(extras["error"], 1e-6);
  EXPECT_DOUBLE_EQ(extras["error"], extras["relative_error"]); // of ones
  const auto& solver = extras["solver"];
  EXPECT_EQ(solver["method"], "classic");
  EXPECT_EQ(solver["preconditioner"], "chebyshev");
  EXPECT_EQ(solver["chebyshev_degree"], 3);
  EXPECT_EQ(solver["format"], "sell");
  EXPECT_EQ(solver["kernel"], "own");
  EXPECT_EQ(solver["sums"], "fast");
  EXPECT_EQ(solver["fused"], true);
  EXPECT_EQ(solver.value("sums_on", "nothing travels"), comm.size() > 1 ? "host" : "nothing travels");

  const auto& matrix = extras["matrix"];
  const std::int64_t ranks = comm.size(), face = 64, cuts = ranks - 1;
  EXPECT_EQ(matrix["ghosts"], 2 * cuts * face);
  EXPECT_EQ(matrix["ghosts_min"], cuts > 0 ? face : 0);
  EXPECT_EQ(matrix["ghosts_max"], cuts > 1 ? 2 * face : cuts * face);
  EXPECT_EQ(matrix["neighbours"], 2 * cuts);
  EXPECT_EQ(matrix["neighbours_min"], cuts > 0 ? 1 : 0);
  EXPECT_EQ(matrix["interior_rows"], 512 - 2 * cuts * face);
  EXPECT_LE(matrix["interior_rows_min"], matrix["interior_rows_max"]);
}

/// A run that did no work, or whose tolerance any answer meets.
TEST(Cg, IsInconclusiveWhereNothingWasSolved) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  struct Case {
    const char *exact, *initial;
    double tolerance;
    bool passes;
  };
  for (const auto& [exact, initial, tolerance, passes] : {Case{"1+x", "0", 1e-8, true},
                                                          {"1+x", "1+x", 1e-8, false},
                                                          {"1+x", "1+x*1.000001", 1e-3, false},
                                                          {"0", "0", 1e-8, false},
                                                          {"0", "1+x", 1e-8, false},
                                                          {"1+x", "0", 1, false},
                                                          {"1+x", "0", 0.2, false}}) {
    auto options = cube_of_points(comm);
    options.stencil.exact = exact;
    options.initial = initial;
    options.solver.tolerance = tolerance;
    const auto verification = App(options, comm).verified();
    SCOPED_TRACE(testing::Message() << exact << ", guess " << initial << ", tolerance " << tolerance << ": "
                                    << verification.remark);
    EXPECT_EQ(verification.passed(), passes);
    EXPECT_EQ(verification.conclusive, passes);
  }
}

} // namespace
} // namespace kontor::cg::test

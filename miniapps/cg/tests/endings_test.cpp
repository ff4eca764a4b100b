// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each way in which an iteration ends.
#include "cg/cg.hpp"
#include "cg/check/verification.hpp"
#include "cg/solver/residual_log.hpp"
#include "small_system.hpp"

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
      SCOPED_TRACE(testing::Message() << "method " << int(method) << " as on a device " << as_on_device
                                      << ": " << words(solved.outcome));
      check(solved, method);
    }
}

TEST(Endings, AllIterationsAndNotOneMore) {
  by_all_methods(line(50), {.tolerance = 0, .max_iterations = 7}, [](const Solved& s, Method) {
    EXPECT_EQ(s.outcome.ending, StopReason::all_iterations);
    EXPECT_EQ(s.outcome.iterations, 7);
    EXPECT_EQ(s.history.size(), 8u);
    EXPECT_TRUE(succeeded(s.outcome.ending));
  });
}

TEST(Endings, LimitShortOfTheTolerance) {
  by_all_methods(line(50), {.tolerance = 1e-9, .max_iterations = 7}, [](const Solved& s, Method) {
    EXPECT_EQ(s.outcome.ending, StopReason::limit);
    EXPECT_EQ(s.outcome.iterations, 7);
    EXPECT_FALSE(succeeded(s.outcome.ending));
  });
}

TEST(Endings, ConvergedInTheLastIteration) {
  by_all_methods(line(50), {.tolerance = 1e-9, .max_iterations = 25}, [](const Solved& s, Method) {
    EXPECT_EQ(s.outcome.ending, StopReason::converged); // the solution is symmetric
    EXPECT_EQ(s.outcome.iterations, 25);
  });
}

TEST(Endings, ResidualZeroEndsEvenWithoutATolerance) {
  by_all_methods(diagonal({2, 2, 2, 2, 2}), {.tolerance = 0, .max_iterations = 40},
                 [](const Solved& s, Method) {
                   EXPECT_EQ(s.outcome.ending, StopReason::converged);
                   EXPECT_EQ(s.outcome.iterations, 1);
                   EXPECT_EQ(s.x, Values(5, 0.5));
                 });
}

TEST(Endings, RightHandSideZero) {
  auto system = irregular(20);
  system.rhs.assign(20, 0);
  for (const double tolerance : {0.0, 1e-8})
    by_all_methods(system, {.tolerance = tolerance}, [](const Solved& s, Method) {
      EXPECT_EQ(s.outcome.ending, StopReason::zero_rhs);
      EXPECT_EQ(s.outcome.iterations, 0);
      EXPECT_EQ(s.outcome.residual, 0);
      EXPECT_EQ(s.x, Values(20, 0));
    });
}

TEST(Endings, ExactGuess) {
  auto system = line(4);
  system.guess = {2, 3, 3, 2};
  for (const double tolerance : {0.0, 1e-8})
    by_all_methods(system, {.tolerance = tolerance}, [&](const Solved& s, Method) {
      EXPECT_EQ(s.outcome.ending, StopReason::exact_guess);
      EXPECT_EQ(s.outcome.iterations, 0);
      EXPECT_EQ(s.x, system.guess);
    });
}

TEST(Endings, IndefiniteAtOnce) {
  auto system = diagonal({1, 1});
  system.matrix = {{1, 2}, {2, 1}};
  system.rhs = {1, -1};
  for (const auto preconditioner :
       {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::chebyshev})
    by_all_methods(system, {.preconditioner = preconditioner, .tolerance = 1e-8},
                   [&](const Solved& s, Method) {
                     EXPECT_FALSE(succeeded(s.outcome.ending));
                     EXPECT_EQ(s.outcome.iterations, 0);
                     EXPECT_EQ(s.x, Values(2, 0));
                     if (preconditioner != PreconditionerKind::chebyshev) {
                       EXPECT_EQ(s.outcome.ending, StopReason::indefinite);
                     }
                   });
}

TEST(Endings, IndefiniteLater) {
  by_all_methods(diagonal({4, 3, 2, 1, -1}), {.tolerance = 1e-12}, [](const Solved& s, Method method) {
    EXPECT_TRUE(s.outcome.ending == StopReason::indefinite ||
                (method != Method::classic && s.outcome.ending == StopReason::breakdown));
    EXPECT_GT(s.outcome.iterations, 0);
    EXPECT_EQ(s.history.size(), s.outcome.iterations + 1u);
  });
}

TEST(Endings, DiagonalThatIsNotPositive) {
  auto system = line(9);
  system.matrix[6][6] = -2;
  for (const auto preconditioner :
       {PreconditionerKind::jacobi, PreconditionerKind::chebyshev, PreconditionerKind::gauss_seidel})
    by_all_methods(system, {.preconditioner = preconditioner}, [](const Solved& s, Method) {
      EXPECT_EQ(s.outcome.ending, StopReason::indefinite);
      EXPECT_EQ(s.outcome.iterations, 0);
    });
}

TEST(Endings, NotFinite) {
  auto overflow = line(9);
  overflow.rhs.assign(9, 1e200);
  auto broken = line(9);
  broken.matrix[4][4] = std::numeric_limits<double>::quiet_NaN();
  auto infinite = line(9);
  infinite.rhs[8] = std::numeric_limits<double>::infinity();
  for (const auto& system : {overflow, broken, infinite})
    by_all_methods(system, {}, [](const Solved& s, Method) {
      EXPECT_EQ(s.outcome.ending, StopReason::not_finite);
      EXPECT_EQ(s.outcome.iterations, 0);
    });
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

TEST(Endings, StagnationUnlessItIsGivenTime) {
  by_all_methods(growing(), {.tolerance = 1e-6, .stagnation = 10}, [](const Solved& s, Method) {
    EXPECT_EQ(s.outcome.ending, StopReason::stagnation);
    EXPECT_EQ(s.outcome.iterations, 13);
  });
  for (const std::int64_t stagnation : {0, 25})
    by_all_methods(growing(), {.tolerance = 1e-6, .stagnation = stagnation}, [](const Solved& s, Method) {
      EXPECT_EQ(s.outcome.ending, StopReason::converged);
      EXPECT_EQ(s.outcome.iterations, 24);
    });
}

TEST(Endings, AllIterationsThoughRoundingLeavesNoStep) {
  by_all_methods(irregular(61), {.replace_every = 5, .tolerance = 0, .max_iterations = 150},
                 [](const Solved& s, Method) {
                   EXPECT_EQ(s.outcome.ending, StopReason::all_iterations);
                   EXPECT_EQ(s.outcome.iterations, 150);
                   EXPECT_LT(s.outcome.residual, 1e-12);
                 });
}

TEST(Verification, FailsWhateverTheResidualUnlessTheEndingIsASuccess) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  Options options;
  Bench bench(comm, irregular(20), options.solver);
  const auto work = bench.workspace();
  const auto solver = make_solver(work);
  solver->reset();
  auto outcome = solve(*solver);
  const auto verification = [&] {
    return verify(comm, bench.system(), {}, work.matrix, work.streams.compute(), options, outcome, *solver,
                  nullptr);
  };
  EXPECT_TRUE(verification().passed());
  for (const auto ending : {StopReason::limit, StopReason::indefinite, StopReason::indefinite_preconditioner,
                            StopReason::breakdown, StopReason::stagnation, StopReason::not_finite}) {
    outcome.ending = ending;
    EXPECT_TRUE(verification().failed());
    EXPECT_NE(verification().remark.find(words(ending)), std::string::npos) << verification().remark;
  }
}

/// With tolerance 0 the residual may be of any size, but it is that of the recurrence.
TEST(Verification, FailsAResidualThatIsNotTheRecurrences) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  Options options;
  options.solver.tolerance = 0;
  options.solver.max_iterations = 4;
  Bench bench(comm, irregular(20), options.solver);
  const auto work = bench.workspace();
  const auto solver = make_solver(work);
  solver->reset();
  const auto outcome = solve(*solver);
  EXPECT_GT(outcome.residual, 1e-4);
  const auto verified = [&](const Outcome& o) {
    return verify(comm, bench.system(), {}, work.matrix, work.streams.compute(), options, o, *solver,
                  nullptr);
  };
  EXPECT_TRUE(verified(outcome).passed());
  EXPECT_LT(verified(outcome).error, 1e-14);
  auto changed = outcome;
  changed.residual += 5e-9;
  EXPECT_TRUE(verified(changed).passed());
  changed.residual += 1e-8;
  EXPECT_TRUE(verified(changed).failed());
  EXPECT_NE(verified(changed).measure.find("recurrence"), std::string::npos) << verified(changed).measure;

  if (comm.rank() == 0) { // a solution that the iteration did not make
    const auto first = Kokkos::subview(solver->solution(), std::pair(0, 1));
    Kokkos::deep_copy(first, 1.0);
  }
  EXPECT_TRUE(verified(outcome).failed());
}

/// An iteration cannot tell entries whose squares are 0 from 0; of either nothing is solved.
TEST(Verification, IsInconclusiveWhereTheRightHandSideIs0) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  for (const double entry : {0.0, -1e-200}) {
    auto system = line(9);
    system.rhs.assign(9, 0);
    system.rhs[8] = entry;
    Options options;
    Bench bench(comm, system, options.solver);
    const auto work = bench.workspace();
    const auto solver = make_solver(work);
    solver->reset();
    const auto outcome = solve(*solver);
    ASSERT_EQ(outcome.ending, StopReason::zero_rhs);
    const auto result = verify(comm, bench.system(), {}, work.matrix, work.streams.compute(), options,
                               outcome, *solver, nullptr);
    EXPECT_FALSE(result.passed());
    EXPECT_FALSE(result.conclusive);
    EXPECT_EQ(result.remark.find("1e-200") == std::string::npos, entry == 0) << result.remark;
  }
}

TEST(Endings, HaveAWordForPrograms) {
  std::set<std::string_view> words;
  for (int ending = 0; ending <= static_cast<int>(StopReason::not_finite); ++ending)
    words.insert(keyword(static_cast<StopReason>(ending)));
  EXPECT_EQ(words.size(), static_cast<std::size_t>(StopReason::not_finite) + 1);
  for (const auto word : words)
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << word;
}

/// What the verification has found is in the record.
TEST(Cg, RecordsHowNearItHasCome) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  miniapp::Timers timers("cg");
  miniapp::Progress progress(miniapp::Progress::Style::silent);
  Options options;
  options.stencil.points = {8, 8, 8};
  options.process_grid = {comm.size(), 1, 1};
  options.solver.preconditioner = PreconditionerKind::chebyshev;
  options.solver.format = Format::sell;
  options.solver.tolerance = 1e-6;
  Cg app(options, {comm, true, timers, progress});
  app.reset();
  app.run();
  EXPECT_FALSE(app.record().extras.contains("true_residual")); // with a backend that moves nothing
  EXPECT_TRUE(app.verify().passed());
  const auto extras = app.record().extras;
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
  miniapp::Timers timers("cg");
  miniapp::Progress progress(miniapp::Progress::Style::silent);
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
    Options options;
    options.stencil.points = {8, 8, 8};
    options.stencil.exact = exact;
    options.initial = initial;
    options.process_grid = {comm.size(), 1, 1};
    options.solver.tolerance = tolerance;
    Cg app(options, {comm, true, timers, progress});
    app.reset();
    app.run();
    const auto verification = app.verify();
    SCOPED_TRACE(testing::Message() << exact << ", guess " << initial << ", tolerance " << tolerance << ": "
                                    << verification.remark);
    EXPECT_EQ(verification.passed(), passes);
    EXPECT_EQ(verification.conclusive, passes);
  }
}

TEST(Cg, FailsInWordsWhatHasNotSucceeded) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  miniapp::Timers timers("cg");
  miniapp::Progress progress(miniapp::Progress::Style::silent);
  Options options;
  options.stencil.points = {8, 8, 8};
  options.process_grid = {comm.size(), 1, 1};
  for (const std::int64_t iterations : {4, 100}) {
    options.solver.max_iterations = iterations;
    Cg app(options, {comm, true, timers, progress});
    app.warm_up();
    app.reset();
    app.run();
    const auto verification = app.verify();
    EXPECT_EQ(verification.passed(), iterations == 100);
    if (iterations == 100) continue;
    EXPECT_NE(verification.remark.find("solver.max_iterations"), std::string::npos) << verification.remark;
    EXPECT_NE(verification.remark.find("after 4 iterations"), std::string::npos) << verification.remark;
  }
}

} // namespace
} // namespace kontor::cg::test

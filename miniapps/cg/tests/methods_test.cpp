// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All methods, with all preconditioners, come to the solution that elimination finds, by as many iterations.
#include "cg/preconditioner/preconditioner.hpp"
#include "small_system.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cmath>
#include <utility>

namespace kontor::cg::test {
namespace {

double true_residual(const SmallSystem& s, const Values& x) {
  double residual = 0, rhs = 0;
  for (std::size_t i = 0; i < s.rows(); ++i) {
    double r = s.rhs[i];
    for (std::size_t j = 0; j < s.rows(); ++j) r -= s.matrix[i][j] * x[j];
    residual += r * r;
    rhs += s.rhs[i] * s.rhs[i];
  }
  return std::sqrt(residual / rhs);
}

/// Of an iteration without replacements, counted by hand from the algorithms: multiplications of the matrix, additions
/// with a multiplication, vectors read and vectors written. Chebyshev's degree is 3.
TEST(Methods, CostOfAnIteration) {
  struct Case {
    Method method;
    PreconditionerKind preconditioner;
    bool fused;
    std::array<double, 4> cost;
  };
  using enum Method;
  using enum PreconditionerKind;
  const comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& [method, preconditioner, fused, cost] : {Case{classic, none, true, {1, 5, 5, 3}},
                                                            {classic, none, false, {1, 5, 8, 3}},
                                                            {classic, jacobi, true, {1, 6, 7, 3}},
                                                            {classic, jacobi, false, {1, 6, 12, 4}},
                                                            {classic, chebyshev, true, {4, 15, 24, 11}},
                                                            {merged, none, true, {1, 6, 5, 4}},
                                                            {merged, none, false, {1, 6, 9, 4}},
                                                            {merged, jacobi, true, {1, 7, 7, 5}},
                                                            {merged, chebyshev, true, {4, 16, 25, 12}},
                                                            {pipelined, none, true, {1, 8, 7, 6}},
                                                            {pipelined, none, false, {1, 8, 11, 6}},
                                                            {pipelined, jacobi, true, {1, 9, 8, 7}},
                                                            {pipelined, chebyshev, true, {4, 20, 27, 16}}}) {
    SolverOptions options{.method = method, .replace_every = 0, .preconditioner = preconditioner, .fused = fused};
    Bench bench(comm, line(23), options);
    const auto one = make_solver(bench.workspace())->cost(7, 8);
    EXPECT_EQ((std::array{one.products, one.updates, one.reads, one.writes}), cost)
        << "method " << int(method) << " preconditioner " << int(preconditioner) << " fused " << fused;
    options.replace_every = 10; // after 10, 20, 30 and 40 of 50 iterations
    Bench replacing(comm, line(23), options);
    EXPECT_EQ(make_solver(replacing.workspace())->cost(0, 50).products - 50 * cost[0], method != pipelined ? 0
                                                                                       : preconditioner == chebyshev
                                                                                           ? 4 * (4 + 2 * 3)
                                                                                           : 4 * 4);
  }
}

TEST(Methods, ComeToTheSameSolution) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const auto system = irregular(61);
  const auto exact = solution_of(system);
  for (const auto preconditioner : preconditioners()) {
    SolverOptions options{.preconditioner = preconditioner, .tolerance = 1e-10, .max_iterations = 200};
    const auto classic = solve(comm, system, options).outcome;
    EXPECT_LT(classic.iterations, 100);
    for (const auto method : all_methods)
      for (const auto& [fused, sums] :
           {std::pair(true, SumKind::fast), {false, SumKind::fast}, {true, SumKind::reproducible}})
        for (const bool overlap : {true, false}) {
          options.method = method;
          options.fused = fused;
          options.sums = sums;
          options.replace_every = 10;
          const auto found = solve(comm, system, options, overlap);
          SCOPED_TRACE(testing::Message()
                       << "method " << int(method) << " preconditioner " << int(preconditioner) << " fused " << fused
                       << " sums " << int(sums) << " overlap " << overlap << ": " << words(found.outcome));
          EXPECT_EQ(found.outcome.ending, StopReason::converged);
          EXPECT_NEAR(found.outcome.iterations, classic.iterations, 1);
          EXPECT_LT(difference(found.x, exact), 1e-8);
          EXPECT_LT(true_residual(system, found.x), 2e-10);
          EXPECT_EQ(found.history.size(), found.outcome.iterations + 1u);
          EXPECT_EQ(found.history.back(), found.outcome.residual);
        }
  }
}

/// The last bits of fast sums depend on the ranks, but hardly the number of iterations.
TEST(Methods, TakeAsManyIterationsOnAnyRanksButForOne) {
  const comm::Communicator comm(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  auto system = line(150);
  for (std::size_t i = 0; i < system.rows(); ++i) system.rhs[i] = std::sin(static_cast<double>(i * i));
  for (const auto& s : {irregular(61), system})
    for (const auto preconditioner :
         {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::chebyshev})
      for (const auto method : all_methods) {
        const SolverOptions options{
            .method = method, .preconditioner = preconditioner, .tolerance = 1e-8, .max_iterations = 400};
        const auto alone = solve(self, s, options).outcome, together = solve(comm, s, options).outcome;
        EXPECT_EQ(together.ending, StopReason::converged);
        EXPECT_NEAR(together.iterations, alone.iterations, 1)
            << "method " << int(method) << " preconditioner " << int(preconditioner);
      }
}

TEST(Methods, QueueIterationsAsADeviceDoesWithTheSameBits) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const auto system = irregular(61);
  for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::chebyshev})
    for (const auto method : all_methods) {
      SolverOptions options{.method = method,
                            .replace_every = 18,
                            .preconditioner = preconditioner,
                            .tolerance = 1e-10,
                            .max_iterations = 200,
                            .graph = stepping::Graphs::off};
      const auto host = solve(comm, system, options);
      for (const auto graph : {stepping::Graphs::off, stepping::Graphs::on}) {
        if (graph == stepping::Graphs::on && comm.size() > 1) continue; // the host sends messages
        options.graph = graph;
        const auto queued = solve(comm, system, options, true, true);
        EXPECT_EQ(queued.record["graph"], graph == stepping::Graphs::on ? "on" : "off");
        EXPECT_EQ(queued.outcome.ending, host.outcome.ending);
        EXPECT_EQ(queued.history, host.history);
        EXPECT_EQ(queued.x, host.x); // iterations made too many have changed nothing
      }
      options.tolerance = 0;
      options.max_iterations = 23;
      options.graph = stepping::Graphs::automatic;
      const auto all = solve(comm, system, options, true, true);
      EXPECT_EQ(all.outcome.ending, StopReason::all_iterations);
      EXPECT_EQ(all.outcome.iterations, 23);
    }
}

TEST(Methods, SayWhyThereIsNoGraph) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  SolverOptions options{.graph = stepping::Graphs::on};
  EXPECT_THROW(solve(comm, line(9), options), config::Error); // on the host
  options.max_iterations = 9;
  EXPECT_THROW(solve(comm, line(9), options, true, true), config::Error); // fewer than it makes
}

TEST(Methods, WorkWithFewerRowsThanRanks) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  for (const int rows : {1, 2, 3, 5})
    for (const auto preconditioner : preconditioners())
      for (const auto method : all_methods) {
        const auto system = line(rows);
        const auto found =
            solve(comm, system, {.method = method, .preconditioner = preconditioner, .tolerance = 1e-12});
        EXPECT_EQ(found.outcome.ending, StopReason::converged);
        EXPECT_LT(difference(found.x, solution_of(system)), 1e-10);
      }
}

TEST(Pipelined, LosesDigitsAndGetsThemBackByReplacement) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const auto system = irregular(61);
  SolverOptions options{.method = Method::pipelined, .replace_every = 0, .tolerance = 0, .max_iterations = 120};
  const auto drifted = solve(comm, system, options);
  EXPECT_EQ(drifted.record["replacements"], 0);
  options.replace_every = 10;
  const auto replaced = solve(comm, system, options);
  EXPECT_EQ(replaced.record["replacements"], 11);
  EXPECT_GT(replaced.record["drift"], 0);
  EXPECT_LT(replaced.record["drift"], 1e-10);
  EXPECT_LT(true_residual(system, replaced.x), 0.1 * true_residual(system, drifted.x))
      << true_residual(system, replaced.x) << " " << true_residual(system, drifted.x) << " " << replaced.record;
}

} // namespace
} // namespace kontor::cg::test

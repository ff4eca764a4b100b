// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iterations by one kernel: the residuals of separate kernels but for rounding, the same bits again however the
// iterations are divided among kernels, and words where there is no such kernel.
#include "cg/problem/problem.hpp"
#include "cg/solver/solver_state.hpp"
#include "refusal.hpp"
#include "small_system.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <memory>
#include <vector>

namespace kontor::cg::test {
namespace {

using stepping::Graphs;

/// A stencil's system of one rank, of several teams on a device.
class Persistent : public testing::Test {
 protected:
  Persistent() {
    options_.stencil.points = {23, 17, 29};
    options_.stencil.exact = config::Expression("sin(3*x)*y+z");
    options_.process_grid = {1, 1, 1};
    options_.solver = {.tolerance = 0, .max_iterations = 41, .format = Format::sell, .graph = Graphs::off};
  }

  /// Warmed up and set back; only the last one works.
  std::unique_ptr<Solver> solver(Method method = Method::persistent, bool as_on_device = true) {
    options_.solver.method = method;
    problem_ = make_problem(options_, {self_, true, timers_, progress_});
    system_ = problem_->build();
    const auto& p = system_.partition;
    matrix_ = options_.solver.format == Format::matrix_free ? problem_->matrix_free()
              : options_.solver.format == Format::sell      ? make_sell(system_.matrix, p.interior, p.own + p.ghosts)
                                                            : make_csr(system_.matrix, p.interior);
    auto made = make_solver({self_, p, system_.matrix, *matrix_, system_.rhs, system_.initial, options_.solver, true,
                             streams_, timers_, as_on_device});
    made->warm_up();
    made->reset();
    return made;
  }
  Solved solved(Solver& by) const {
    solve(by);
    return found_by(by, self_, system_.partition);
  }
  Solved solved_by(Method method) { return solved(*solver(method)); }

  comm::Communicator self_{MPI_COMM_SELF};
  miniapp::Timers timers_{"cg"};
  miniapp::Progress progress_{miniapp::Progress::Style::silent};
  stepping::Streams<Space> streams_{true};
  Options options_;
  std::unique_ptr<Problem> problem_;
  LinearSystem system_;
  std::unique_ptr<Matrix> matrix_;
};

void expect_close(const Solved& found, const Solved& expected) {
  EXPECT_EQ(found.outcome.iterations, expected.outcome.iterations);
  ASSERT_EQ(found.history.size(), expected.history.size());
  for (std::size_t i = 0; i < found.history.size(); ++i)
    EXPECT_NEAR(found.history[i], expected.history[i], 1e-9 * expected.history[i] + 1e-14) << i;
  for (std::size_t i = 0; i < found.x.size(); ++i) ASSERT_NEAR(found.x[i], expected.x[i], 1e-9) << "row " << i;
}

TEST_F(Persistent, HasTheResidualsOfSeparateKernels) {
  for (const auto format : {Format::sell, Format::matrix_free})
    for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
      SCOPED_TRACE(fmt::format("format {}, preconditioner {}", int(format), int(preconditioner)));
      options_.solver.format = format;
      options_.solver.preconditioner = preconditioner;
      const auto separate = solved_by(Method::merged);
      EXPECT_LT(separate.history.back(), 1e-3 * separate.history.front());
      const auto one = solver();
      const auto found = solved(*one);
      EXPECT_EQ(found.outcome.ending, StopReason::all_iterations);
      EXPECT_EQ(found.outcome.iterations, 41);
      expect_close(found, separate);
      one->reset();
      EXPECT_EQ(solved(*one).history, found.history); // the same bits again
    }
}

TEST_F(Persistent, EndsWhereTheToleranceIsReached) {
  options_.solver.tolerance = 1e-6;
  options_.solver.max_iterations = 500;
  const auto separate = solved_by(Method::merged), one = solved_by(Method::persistent);
  EXPECT_EQ(one.outcome.ending, StopReason::converged);
  expect_close(one, separate);
}

/// However many iterations a kernel has, as before and after a checkpoint.
TEST_F(Persistent, GoesOnFromAStateWithTheSameBits) {
  const auto whole = solved_by(Method::persistent);
  for (const std::int64_t at : {1, 16, 21}) {
    SCOPED_TRACE(at);
    options_.solver.max_iterations = at;
    const auto first = solver();
    solve(*first);
    auto state = first->state();
    std::vector<Values> saved;
    for (const auto& vector : state.vectors) saved.push_back(on_host(vector.values));
    options_.solver.max_iterations = 41;
    const auto second = solver();
    state.vectors = second->state().vectors;
    std::size_t next = 0;
    second->go_on_from(
        state, [&](const SolverStateVector& vector) { Kokkos::deep_copy(vector.values, to_view(saved.at(next++))); });
    const auto found = solved(*second);
    EXPECT_EQ(found.history, whole.history);
    EXPECT_EQ(found.x, whole.x);
  }
}

TEST_F(Persistent, SaysWhyThereIsNoSuchKernel) {
  const auto usual = options_.solver;
  const auto refused = [&](const char* fact, bool as_on_device = true) {
    expect_facts(error_of([&] { solver(Method::persistent, as_on_device); }), {fact}, fact);
    options_.solver = usual;
  };
  refused("on the host", false);
  options_.solver.fused = false;
  refused("solver.fused");
  options_.solver.graph = Graphs::on;
  refused("solver.graph");
  options_.solver.sums = SumKind::reproducible;
  refused("solver.sums");
  options_.solver.preconditioner = PreconditionerKind::chebyshev;
  refused("preconditioner");
  options_.solver.format = Format::csr;
  refused("sell and matrix_free");
}

TEST(PersistentOption, NeedsOneRank) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "several ranks are refused";
  const SolverOptions options{.method = Method::persistent};
  expect_facts(error_of([&] { solve(comm, irregular(40), options, true, true); }), {"several ranks"});
}

} // namespace
} // namespace kontor::cg::test

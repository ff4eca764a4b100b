// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iterations by one kernel: the residuals of separate kernels but for rounding, the same bits again however
// the iterations are divided among kernels, and words where there is no such kernel.
#include "cg/problem/problem.hpp"
#include "cg/solver/solver_state.hpp"
#include "refusal.hpp"
#include "small_system.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kontor::cg::test {
namespace {

using stepping::Graphs;

/// A stencil's system of one rank, of several teams on a device.
class Persistent : public testing::Test {
 protected:
  void SetUp() override {
    options_.stencil.points = {23, 17, 29};
    options_.stencil.exact = config::Expression("sin(3*x)*y+z");
    options_.process_grid = {1, 1, 1};
    options_.solver = {.method = Method::persistent,
                       .tolerance = 0,
                       .max_iterations = 41,
                       .format = Format::sell,
                       .graph = Graphs::off};
  }

  std::unique_ptr<Solver> solver(bool as_on_device = true) {
    problem_ = make_problem(options_, {self_, true, timers_, progress_});
    system_ = problem_->build();
    const auto& p = system_.partition;
    matrix_ = options_.solver.format == Format::matrix_free ? problem_->matrix_free()
              : options_.solver.format == Format::sell
                  ? make_sell(system_.matrix, p.interior, p.own + p.ghosts)
                  : make_csr(system_.matrix, p.interior);
    auto made = make_solver(workspace(as_on_device));
    made->warm_up();
    made->reset();
    return made;
  }
  Workspace workspace(bool as_on_device = true) {
    return {self_,       system_.partition, system_.matrix,  *matrix_,
            system_.rhs, system_.initial,   options_.solver, true,
            streams_,    timers_,           as_on_device};
  }
  Values values(const Vector& v) const { return gathered(self_, system_.partition, v); }

  void expect_close(const Solver& found, const std::vector<double>& history, const Values& x) const {
    ASSERT_EQ(found.history().size(), history.size());
    for (std::size_t i = 0; i < history.size(); ++i)
      EXPECT_NEAR(found.history()[i], history[i], 1e-9 * history[i] + 1e-14) << "iteration " << i;
    const auto found_x = values(found.solution());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(found_x[i], x[i], 1e-9) << "row " << i;
  }

  /// The message with which it is refused; empty if it is not.
  std::string refusal(bool as_on_device = true) {
    return error_of([&] { solver(as_on_device); });
  }

  comm::Communicator self_{MPI_COMM_SELF};
  miniapp::Timers timers_{"cg"};
  miniapp::Progress progress_{miniapp::Progress::Style::silent};
  stepping::Streams<Space> streams_{true};
  Options options_;
  std::unique_ptr<Problem> problem_;
  LinearSystem system_;
  std::unique_ptr<Matrix> matrix_;
};

TEST_F(Persistent, HasTheResidualsOfSeparateKernels) {
  for (const auto format : {Format::sell, Format::matrix_free})
    for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
      SCOPED_TRACE(fmt::format("format {}, preconditioner {}", int(format), int(preconditioner)));
      options_.solver.format = format;
      options_.solver.preconditioner = preconditioner;
      options_.solver.method = Method::merged;
      const auto separate = solver();
      solve(*separate);
      const auto history = separate->history();
      const auto x = values(separate->solution());
      EXPECT_LT(history.back(), 1e-3 * history.front());
      options_.solver.method = Method::persistent;
      const auto one = solver();
      const auto outcome = solve(*one);
      EXPECT_EQ(outcome.ending, StopReason::all_iterations);
      EXPECT_EQ(outcome.iterations, 41);
      expect_close(*one, history, x);
      const auto before = one->history();
      one->reset();
      solve(*one);
      EXPECT_EQ(one->history(), before); // the same bits again
    }
}

TEST_F(Persistent, EndsWhereTheToleranceIsReached) {
  options_.solver.tolerance = 1e-6;
  options_.solver.max_iterations = 500;
  options_.solver.method = Method::merged;
  const auto separate = solver();
  const auto expected = solve(*separate);
  const auto history = separate->history();
  const auto x = values(separate->solution());
  options_.solver.method = Method::persistent;
  const auto one = solver();
  const auto outcome = solve(*one);
  EXPECT_EQ(outcome.ending, StopReason::converged);
  EXPECT_EQ(outcome.iterations, expected.iterations);
  expect_close(*one, history, x);
}

/// However many iterations a kernel has, as before and after a checkpoint.
TEST_F(Persistent, GoesOnFromAStateWithTheSameBits) {
  for (const std::int64_t at : {1, 16, 21}) {
    SCOPED_TRACE(at);
    const auto whole = solver();
    solve(*whole);
    const auto history = whole->history();
    const auto x = values(whole->solution());
    SolverState saved;
    std::vector<Values> vectors;
    options_.solver.max_iterations = at;
    const auto first = solver();
    solve(*first);
    saved = first->state();
    for (const auto& vector : saved.vectors) vectors.push_back(values(vector.values));
    options_.solver.max_iterations = 41;
    const auto second = solver();
    auto state = saved;
    state.vectors = second->state().vectors;
    std::size_t next = 0;
    second->go_on_from(state, [&](const SolverStateVector& vector) {
      Kokkos::deep_copy(vector.values, own_of(system_.partition, vectors.at(next++)));
    });
    solve(*second);
    EXPECT_EQ(second->history(), history);
    EXPECT_EQ(values(second->solution()), x);
  }
}

TEST_F(Persistent, SaysWhyThereIsNoSuchKernel) {
  const auto refused = [&](const char* fact, bool as_on_device = true) {
    const auto text = refusal(as_on_device);
    EXPECT_NE(text.find(fact), std::string::npos) << fact << " in: " << text;
    SetUp();
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

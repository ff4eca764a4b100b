// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iterations by one kernel, beside those by kernels of their own.
#include "cg/problem/problem.hpp"
#include "cg/solver/solver_state.hpp"
#include "machine/device.hpp"
#include "run/tests/launch_trial.hpp"
#include "small_system.hpp"

#include <kontor/device/compat.hpp>

namespace kontor::cg::test {
namespace {

using stepping::Launch;

/// A stencil's system, of several teams on a device. With several ranks the vector lies in memory of all.
class Persistent : public testing::TestWithParam<Method> {
 protected:
  Persistent() {
    options_.stencil.points = {23, 17, 29};
    options_.stencil.exact = config::Expression("sin(3*x)*y+z");
    options_.process_grid = {1, 1, loan_.comm.size()};
    options_.solver = {.method = GetParam(), .replace_every = 20, .tolerance = 0, .max_iterations = 41};
    options_.solver.format = Format::sell;
    options_.solver.launch = Launch::per_kernel;
  }

  /// Warmed up and set back; only the last one works.
  std::unique_ptr<Solver> solver(Launch launch = Launch::persistent, bool as_on_device = true) {
    options_.solver.launch = launch;
    problem_ = make_problem(options_, {loan_.comm, true, loan_.timers, loan_.progress});
    system_ = problem_->build();
    const auto& p = system_.partition;
    matrix_ = options_.solver.format == Format::matrix_free ? problem_->matrix_free()
              : options_.solver.format == Format::csr       ? make_csr(system_.matrix, p.interior)
              : system_.chunks                              ? make_sell(*system_.chunks)
                                                            : make_sell(system_.matrix, p.interior, p.own + p.ghosts);
    auto made = make_solver({{loan_.comm, p, system_.matrix, *matrix_},
                             {streams_, loan_.timers, true, as_on_device},
                             options_.solver,
                             system_.rhs,
                             system_.initial});
    made->warm_up();
    made->reset();
    return made;
  }
  Solved solved(Solver& by) const {
    solve(by);
    return found_by(by, loan_.comm, system_.partition);
  }
  Solved solved_by(Launch launch) { return solved(*solver(launch)); }

  miniapp::test::Loan loan_{"cg",
                            comm::Communicator(MPI_COMM_WORLD, {.backend = device::kernels_on_host ? "shm" : "ipc"})};
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

TEST_P(Persistent, HasTheResidualsOfSeparateKernels) {
  for (const auto format : {Format::sell, Format::matrix_free})
    for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
      SCOPED_TRACE(fmt::format("format {}, preconditioner {}", int(format), int(preconditioner)));
      options_.solver.format = format;
      options_.solver.preconditioner = preconditioner;
      const auto separate = solved_by(Launch::per_kernel);
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

TEST_P(Persistent, EndsWhereTheToleranceIsReached) {
  options_.solver.tolerance = 1e-6;
  options_.solver.max_iterations = 500;
  const auto separate = solved_by(Launch::per_kernel), one = solved_by(Launch::persistent);
  EXPECT_EQ(one.outcome.ending, StopReason::converged);
  expect_close(one, separate);
}

/// However many iterations a kernel has, as before and after a checkpoint.
TEST_P(Persistent, GoesOnFromAStateWithTheSameBits) {
  const auto whole = solved_by(Launch::persistent);
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

/// And a solve after it has the bits of one before.
TEST_P(Persistent, IsTimedWithoutExchanges) {
  const auto expected = solved_by(Launch::persistent);
  const auto one = solver();
  for (int sample = 0; sample < 2; ++sample) {
    one->begin_alone();
    EXPECT_EQ(one->launches().advance_alone(), 16);
    EXPECT_TRUE(one->end_alone());
  }
  one->reset();
  EXPECT_EQ(solved(*one).history, expected.history);
}

TEST_P(Persistent, IsNotTriedWhereRanksShareADevice) {
  const auto record = solver(Launch::automatic)->launches().record();
  const bool alone = comm::max_over_ranks(loan_.comm, miniapp::ranks_of_memory(loan_.comm).size()) == 1;
  EXPECT_EQ(miniapp::test::was_tried(record, "persistent"), alone);
}

TEST_P(Persistent, SaysWhyThereIsNoSuchKernel) {
  const auto usual = options_.solver;
  const auto refused = [&](const char* fact, const auto& change, bool as_on_device = true) {
    options_.solver = usual;
    change(options_.solver);
    expect_facts(error_of([&] { solver(Launch::persistent, as_on_device); }), {fact}, fact);
  };
  const auto nothing = [](auto&) {};
  if (GetParam() == Method::pipelined)
    refused("solver.replace_every", [](auto& options) { options.replace_every = 1; });
  refused("on the host", nothing, false);
  refused("sell and matrix_free", [](auto& options) { options.format = Format::csr; });
  refused("pipelined", [](auto& options) { options.method = Method::classic; });
  refused("solver.sums", [](auto& options) { options.sums = SumKind::reproducible; });
  refused("preconditioner", [](auto& options) { options.preconditioner = PreconditionerKind::chebyshev; });
  if (miniapp::test::world_size() == 1) return;
  const SolverOptions options{.method = GetParam(), .format = Format::sell, .launch = Launch::persistent};
  expect_facts(error_of([&] { solve(irregular(40), options, true, true); }), {"backend", "ipc", "shm"});
}

INSTANTIATE_TEST_SUITE_P(Methods, Persistent, testing::Values(Method::merged, Method::pipelined));

} // namespace
} // namespace kontor::cg::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All methods and preconditioners: solutions, numbers of iterations, kernels that they launch, bits on any ranks.
#include "cg/problem/problem.hpp"
#include "cg/solver/solver_state.hpp"
#include "cost.hpp"
#include "small_system.hpp"

#include <kontor/device/compat.hpp>

#include <numbers>

namespace kontor::cg::test {
namespace {

using stepping::Launch;

double true_residual(const SmallSystem& s, const Values& x) {
  Values r;
  for (std::size_t i = 0; i < s.rows(); ++i) r.push_back(s.rhs[i] - dot(s.matrix[i], x));
  return std::sqrt(dot(r, r) / dot(s.rhs, s.rhs));
}

/// Of an iteration without replacements, counted by hand from the algorithms: multiplications of the matrix, additions
/// with a multiplication, vectors read and vectors written. Chebyshev's degree is 3.
TEST(Methods, CostOfAnIteration) {
  struct Case {
    Method method;
    PreconditionerKind preconditioner;
    SumKind sums;
    std::array<double, 4> cost;
  };
  using enum Method;
  using enum PreconditionerKind;
  using enum SumKind;
  for (const auto& [method, preconditioner, sums, cost] : {Case{classic, none, any_order, {1, 5, 5, 3}},
                                                           {classic, none, reproducible, {1, 5, 8, 3}},
                                                           {classic, jacobi, any_order, {1, 6, 7, 3}},
                                                           {classic, jacobi, reproducible, {1, 6, 12, 4}},
                                                           {classic, chebyshev, any_order, {4, 15, 24, 11}},
                                                           {merged, none, any_order, {1, 6, 5, 4}},
                                                           {merged, none, reproducible, {1, 6, 9, 4}},
                                                           {merged, jacobi, any_order, {1, 7, 7, 5}},
                                                           {merged, chebyshev, any_order, {4, 16, 25, 12}},
                                                           {pipelined, none, any_order, {1, 8, 7, 6}},
                                                           {pipelined, none, reproducible, {1, 8, 11, 6}},
                                                           {pipelined, jacobi, any_order, {1, 9, 8, 7}},
                                                           {pipelined, chebyshev, any_order, {4, 20, 27, 16}}}) {
    SolverOptions options{.method = method, .replace_every = 0, .preconditioner = preconditioner, .sums = sums};
    Bench bench(world(), line(23), options);
    const auto one = make_solver(bench.workspace())->cost(7, 8);
    EXPECT_EQ((std::array{one.products, one.updates, one.reads, one.writes}), cost)
        << "method " << int(method) << " preconditioner " << int(preconditioner) << " sums " << int(sums);
    options.replace_every = 10; // after 10, 20, 30 and 40 of 50 iterations
    Bench replacing(world(), line(23), options);
    const int products = preconditioner == chebyshev ? 4 + 2 * 3 : 4; // of a replacement
    EXPECT_EQ(make_solver(replacing.workspace())->cost(0, 50).products - 50 * cost[0],
              method == pipelined ? 4 * products : 0);
  }
}

/// By its own copy of the matrix.
TEST(GaussSeidel, CostOfAnApplication) {
  if (!has_gauss_seidel()) GTEST_SKIP();
  Bench bench(world(), line(23), {.preconditioner = PreconditionerKind::gauss_seidel});
  const auto cost = make_preconditioner(bench.workspace())->cost();
  const double entries = 67 - 2 * (world().size() - 1); // but for those between ranks
  EXPECT_NEAR(cost.flops(23, 67), 4 * entries, 1e-9);
  EXPECT_NEAR(cost.bytes_read(23, 1e6), 2 * 12 * entries + 23 * 8 * 11, 1e-9);
}

TEST(Methods, ComeToTheSameSolution) {
  const auto system = irregular(61);
  for (const auto preconditioner : preconditioners()) {
    SolverOptions options{.preconditioner = preconditioner, .tolerance = 1e-10, .max_iterations = 200};
    const auto classic = solve(system, options).outcome;
    EXPECT_LT(classic.iterations, 100);
    for (const auto method : all_methods)
      for (const auto sums : {SumKind::any_order, SumKind::reproducible})
        for (const bool overlap : {true, false}) {
          options.method = method;
          options.sums = sums;
          options.replace_every = 10;
          const auto found = solve(system, options, overlap);
          SCOPED_TRACE(testing::Message()
                       << "method " << int(method) << " preconditioner " << int(preconditioner) << " sums " << int(sums)
                       << " overlap " << overlap << ": " << words(found.outcome));
          EXPECT_EQ(found.outcome.ending, StopReason::converged);
          EXPECT_NEAR(found.outcome.iterations, classic.iterations, 1);
          EXPECT_LT(true_residual(system, found.x), 2e-10);
          EXPECT_EQ(found.history.size(), found.outcome.iterations + 1u);
          EXPECT_EQ(found.history.back(), found.outcome.residual);
        }
  }
}

TEST(Methods, QueueIterationsAsADeviceDoesWithTheSameBits) {
  const auto system = irregular(61);
  for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::chebyshev})
    for (const auto method : all_methods) {
      SolverOptions options{.method = method,
                            .replace_every = 18,
                            .preconditioner = preconditioner,
                            .tolerance = 1e-10,
                            .max_iterations = 200,
                            .launch = Launch::per_kernel};
      const auto host = solve(system, options);
      for (const auto graph : {Launch::per_kernel, Launch::graph}) {
        if (graph == Launch::graph && miniapp::test::world_size() > 1) continue; // the host sends messages
        options.launch = graph;
        const auto queued = solve(system, options, true, true);
        EXPECT_EQ(queued.record["launch"], graph == Launch::graph ? "graph" : "per_kernel");
        EXPECT_EQ(queued.outcome.ending, host.outcome.ending);
        EXPECT_EQ(queued.history, host.history);
        EXPECT_EQ(queued.x, host.x); // iterations made too many have changed nothing
      }
      options.tolerance = 0;
      options.max_iterations = 23;
      options.launch = Launch::automatic;
      const auto all = solve(system, options, true, true);
      EXPECT_EQ(all.outcome.ending, StopReason::all_iterations);
      EXPECT_EQ(all.outcome.iterations, 23);
    }
}

TEST(Methods, SayWhyThereIsNoGraph) {
  SolverOptions options{.launch = Launch::graph};
  EXPECT_THROW(solve(line(9), options), config::Error); // on the host
  options.max_iterations = 9;
  EXPECT_THROW(solve(line(9), options, true, true), config::Error); // fewer than it makes
}

TEST(Methods, WorkWithFewerRowsThanRanks) {
  for (const int rows : {1, 2, 3, 5})
    for (const auto preconditioner : preconditioners())
      for (const auto method : all_methods) {
        const auto found = solve(line(rows), {.method = method, .preconditioner = preconditioner, .tolerance = 1e-12});
        EXPECT_EQ(found.outcome.ending, StopReason::converged);
        EXPECT_LT(true_residual(line(rows), found.x), 1e-11);
      }
}

TEST(Pipelined, LosesDigitsAndGetsThemBackByReplacement) {
  const auto system = irregular(61);
  SolverOptions options{.method = Method::pipelined, .replace_every = 0, .tolerance = 0, .max_iterations = 120};
  const auto drifted = solve(system, options);
  EXPECT_EQ(drifted.record["replacements"], 0);
  options.replace_every = 10;
  const auto replaced = solve(system, options);
  EXPECT_EQ(replaced.record["replacements"], 11);
  EXPECT_GT(replaced.record["drift"], 0);
  EXPECT_LT(replaced.record["drift"], 1e-10);
  EXPECT_LT(true_residual(system, replaced.x), 0.1 * true_residual(system, drifted.x))
      << true_residual(system, replaced.x) << " " << true_residual(system, drifted.x) << " " << replaced.record;
}

/// The residuals of a solve; collective over `native`.
std::vector<double> residuals(MPI_Comm native, Options options, bool overlap) {
  const comm::Communicator comm(native);
  options.process_grid = {1, comm.size(), 1};
  App app(options, comm, overlap);
  app.run();
  return app.cg.record().at("history").at("residual");
}

TEST(Reproducible, SameResidualsAsOnOneRank) {
  bool overlap = false; // another one each time
  for (const auto kind : {ProblemKind::stencil, ProblemKind::fe_heat})
    for (const auto method : all_methods)
      for (const auto format : {Format::csr, Format::sell})
        for (const auto preconditioner : preconditioners(true)) {
          overlap = !overlap;
          auto options = reproducible(kind, method, preconditioner);
          options.solver.format = format;
          SCOPED_TRACE(testing::Message()
                       << "problem " << int(kind) << ", overlap " << overlap << words_of(options.solver));
          const auto alone = residuals(MPI_COMM_SELF, options, true);
          EXPECT_GT(alone.size(), 5u);
          EXPECT_EQ(residuals(MPI_COMM_WORLD, options, overlap), alone);
        }
}

int kernels_of(const SolverOptions& options) {
  const comm::Communicator alone(MPI_COMM_SELF);
  Bench bench(alone, irregular(40), options, true, true);
  const auto solver = bench.solver();
  comm::test::start_recording_tools();
  solve(*solver);
  return static_cast<int>(comm::test::stop_recording_tools().kernels.size());
}

/// Of one rank, where no messages are packed.
int kernels_an_iteration(SolverOptions options) {
  options.tolerance = 0;
  options.replace_every = 0;
  options.launch = Launch::per_kernel;
  options.max_iterations = 4;
  const int few = kernels_of(options);
  options.max_iterations = 14;
  const int more = kernels_of(options) - few;
  EXPECT_EQ(more % 10, 0);
  return more / 10;
}

TEST(Launches, AreFewAnIteration) {
  const int dot = device::kernels_on_host ? 1 : 0; // a host adds up the parts of a product's dot by a kernel
  for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
    SCOPED_TRACE(static_cast<int>(preconditioner));
    EXPECT_EQ(kernels_an_iteration({.method = Method::classic, .preconditioner = preconditioner}), 3 + dot);
    EXPECT_EQ(kernels_an_iteration({.method = Method::merged, .preconditioner = preconditioner}), 2 + dot);
    EXPECT_EQ(kernels_an_iteration({.method = Method::pipelined, .preconditioner = preconditioner}), 2);
  }
}

class Preconditioners : public testing::TestWithParam<PreconditionerKind> {};
INSTANTIATE_TEST_SUITE_P(All, Preconditioners, testing::ValuesIn([] {
                           auto kinds = preconditioners();
                           kinds.erase(kinds.begin()); // none
                           return kinds;
                         }()));

TEST_P(Preconditioners, AreSymmetricAndPositive) {
  for (const auto& system : {irregular(61), line(3), line(40)})
    for (const std::int64_t degree : {1, 2, 3, 6}) {
      if (degree > 1 && GetParam() != PreconditionerKind::chebyshev) continue;
      Bench bench(world(), system, {.preconditioner = GetParam(), .chebyshev_degree = degree});
      const auto m = make_preconditioner(bench.workspace());
      EXPECT_TRUE(m->definite());
      const auto& partition = bench.system().partition;
      const auto apply = [&](const Values& r) {
        const Vector z("test/z", static_cast<std::size_t>(partition.own));
        m->apply(own_of(partition, r), z);
        return gathered(world(), partition, z);
      };
      Values x, y;
      for (std::size_t i = 0; i < system.rows(); ++i) {
        x.push_back(std::sin(static_cast<double>(i) + 0.5));
        y.push_back(std::cos(2.0 * static_cast<double>(i * i)));
      }
      const auto mx = apply(x), my = apply(y);
      const double scale = std::sqrt(dot(x, x) * dot(my, my)) + std::sqrt(dot(y, y) * dot(mx, mx));
      EXPECT_LT(std::abs(dot(x, my) - dot(y, mx)), 1e-15 * static_cast<double>(system.rows()) * scale);
      EXPECT_GT(dot(x, mx), 0);
      EXPECT_GT(dot(y, my), 0);
      EXPECT_EQ(apply(x), mx); // and nothing is left of what came between
    }
}

TEST_P(Preconditioners, SaveIterations) {
  SolverOptions options{.tolerance = 1e-10};
  const auto without = solve(irregular(61), options).outcome.iterations;
  options.preconditioner = GetParam();
  EXPECT_LT(solve(irregular(61), options).outcome.iterations, without);
}

TEST(Chebyshev, ItsBoundsHold) {
  for (const auto& system : {irregular(61), line(100)}) {
    const auto scaled = [&](const Values& x) { // by D^-1 A
      Values y;
      for (std::size_t i = 0; i < x.size(); ++i) y.push_back(dot(system.matrix[i], x) / system.matrix[i][i]);
      return y;
    };
    Values x;
    for (std::size_t i = 0; i < system.rows(); ++i) x.push_back(std::sin(7.0 * static_cast<double>(i) + 1));
    const auto record = solve(system, {.preconditioner = PreconditionerKind::chebyshev}).record;
    const double largest = eigenvalue_of(scaled, x, 300), bound = record["eigenvalue_max"];
    EXPECT_GE(bound, largest);
    EXPECT_LE(bound, 1.1 * largest + 1e-9);
    EXPECT_GT(record["eigenvalue_min"], 0);
  }
}

TEST(Chebyshev, AHigherDegreeSavesIterations) {
  auto system = line(150);
  for (std::size_t i = 0; i < system.rows(); ++i) system.rhs[i] = std::sin(static_cast<double>(i * i));
  SolverOptions options{.preconditioner = PreconditionerKind::chebyshev, .tolerance = 1e-8};
  std::int64_t before = solve(system, {.tolerance = 1e-8}).outcome.iterations;
  for (const std::int64_t degree : {1, 3, 7}) {
    options.chebyshev_degree = degree;
    const auto iterations = solve(system, options).outcome.iterations;
    EXPECT_LT(iterations, 0.8 * static_cast<double>(before));
    before = iterations;
  }
}

TEST(RitzValues, AreTheEigenvaluesAfterAsManyIterationsAsThereAre) {
  auto system = line(8);
  system.rhs = {1, -0.3, 0.7, 0.2, 0.9, -0.8, 0.1, 0.4};
  const SolvedOnce solved(system, {.tolerance = 0, .max_iterations = 8});
  const auto found = ritz_values(solved.solver().coefficients());
  EXPECT_NEAR(found.smallest, 2 - 2 * std::cos(std::numbers::pi / 9), 1e-10);
  EXPECT_NEAR(found.largest, 2 - 2 * std::cos(8 * std::numbers::pi / 9), 1e-10);
  EXPECT_DOUBLE_EQ(ritz_values({{0, 0}, {0.25, 0}, {0, 1}, {9, 0}}).largest, 4); // by the first steps
}

TEST(ReproducibleSums, RefuseByNameWhatDependsOnTheOrder) {
  expect_facts(refusal_of("app: cg\nsolver:\n  preconditioner: gauss_seidel\n  sums: reproducible\n"),
               {"deck.yaml:3", "gauss_seidel", "chebyshev"});
}

} // namespace
} // namespace kontor::cg::test

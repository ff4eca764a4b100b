// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Preconditioners are symmetric and positive, bounds of eigenvalues enclose them, and gauss_seidel is refused where it
// cannot be.
#include "cg/preconditioner/eigenvalues.hpp"
#include "cg/preconditioner/preconditioner.hpp"
#include "refusal.hpp"
#include "small_system.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <numbers>

namespace kontor::cg::test {
namespace {

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The largest eigenvalue of D^-1 A.
double largest_eigenvalue(const SmallSystem& s) {
  Values x(s.rows());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(7.0 * static_cast<double>(i) + 1);
  double norm = 0;
  for (int iteration = 0; iteration < 300; ++iteration) {
    Values y(s.rows());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = dot(s.matrix[i], x) / s.matrix[i][i];
    norm = std::sqrt(dot(y, y) / dot(x, x));
    for (auto& value : y) value /= norm;
    x = y;
  }
  return norm;
}

class Preconditioners : public testing::TestWithParam<PreconditionerKind> {};
INSTANTIATE_TEST_SUITE_P(All, Preconditioners, testing::ValuesIn([] {
                           auto kinds = preconditioners();
                           kinds.erase(kinds.begin()); // none
                           return kinds;
                         }()));

TEST_P(Preconditioners, AreSymmetricAndPositive) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& system : {irregular(61), line(3), line(40)})
    for (const std::int64_t degree : {1, 2, 3, 6}) {
      if (degree > 1 && GetParam() != PreconditionerKind::chebyshev) continue;
      Bench bench(comm, system, {.preconditioner = GetParam(), .chebyshev_degree = degree});
      const auto m = make_preconditioner(bench.workspace());
      EXPECT_TRUE(m->definite());
      const auto& partition = bench.system().partition;
      const auto apply = [&](const Values& r) {
        const Vector z("test/z", static_cast<std::size_t>(partition.own));
        m->apply(own_of(partition, r), z);
        return gathered(comm, partition, z);
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
  const comm::Communicator comm(MPI_COMM_WORLD);
  SolverOptions options{.tolerance = 1e-10};
  const auto without = solve(comm, irregular(61), options).outcome.iterations;
  options.preconditioner = GetParam();
  EXPECT_LT(solve(comm, irregular(61), options).outcome.iterations, without);
}

TEST(Chebyshev, ItsBoundsHold) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& system : {irregular(61), line(100)}) {
    const auto found = solve(comm, system, {.preconditioner = PreconditionerKind::chebyshev});
    const auto& record = found.record;
    const double largest = largest_eigenvalue(system), bound = record["eigenvalue_max"];
    EXPECT_GE(bound, largest);
    EXPECT_LE(bound, 1.1 * largest + 1e-9);
    EXPECT_GT(record["eigenvalue_min"], 0);
  }
}

TEST(Chebyshev, AHigherDegreeSavesIterations) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  auto system = line(150);
  for (std::size_t i = 0; i < system.rows(); ++i) system.rhs[i] = std::sin(static_cast<double>(i * i));
  SolverOptions options{.preconditioner = PreconditionerKind::chebyshev, .tolerance = 1e-8};
  std::int64_t before = solve(comm, system, {.tolerance = 1e-8}).outcome.iterations;
  for (const std::int64_t degree : {1, 3, 7}) {
    options.chebyshev_degree = degree;
    const auto iterations = solve(comm, system, options).outcome.iterations;
    EXPECT_LT(iterations, 0.8 * static_cast<double>(before));
    before = iterations;
  }
}

TEST(RitzValues, AreTheEigenvaluesAfterAsManyIterationsAsThereAre) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  auto system = line(8);
  system.rhs = {1, -0.3, 0.7, 0.2, 0.9, -0.8, 0.1, 0.4};
  Bench bench(comm, system, {.tolerance = 0, .max_iterations = 8});
  const auto solver = make_solver(bench.workspace());
  solver->reset();
  solve(*solver);
  const auto found = ritz_values(solver->coefficients());
  EXPECT_NEAR(found.smallest, 2 - 2 * std::cos(std::numbers::pi / 9), 1e-10);
  EXPECT_NEAR(found.largest, 2 - 2 * std::cos(8 * std::numbers::pi / 9), 1e-10);
  EXPECT_DOUBLE_EQ(ritz_values({{0.25, 0}}).largest, 4);
}

TEST(GaussSeidel, IsRefusedByNameWithReproducibleSums) {
  expect_facts(refusal_of("app: cg\nsolver:\n  preconditioner: gauss_seidel\n  sums: reproducible\n"),
               {"deck.yaml:3", "gauss_seidel", "chebyshev"});
}

TEST(AtomicAssembly, IsRefusedByNameWithReproducibleSumsWhereThreadsCompute) {
  const auto message = refusal_of("app: cg\nproblem:\n  kind: fe_heat\n  fe_heat:\n    assembly: atomic\n"
                                  "    boundary: {x_min: {temperature: 0}}\nsolver:\n  sums: reproducible\n");
  if (Space::name() == std::string_view("Serial"))
    EXPECT_EQ(message, "");
  else
    expect_facts(message, {"deck.yaml:5", "gather"});
}

} // namespace
} // namespace kontor::cg::test

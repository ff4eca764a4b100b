// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Systems and solutions of fe_heat, and what it refuses.
#include "grid/process_grid.hpp"
#include "random/counter_random.hpp"
#include "small_system.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/error.hpp>

#include <bit>

/// Problems of fe_heat that tests build and solve.
namespace kontor::cg::test {
namespace {

void lay_out(Options& options, const comm::Communicator& comm) {
  if (!options.process_grid.empty()) return;
  const auto points = options.fe_heat.points();
  const auto grid = grid::smallest_surface_grid(comm.size(), points);
  options.process_grid.assign(grid.begin(), grid.end());
}

/// T = 1 + 2 x - y + z / 2 with a linear conductivity, whose integrals the Gauss points have exactly.
Options linear_problem() {
  Options options;
  options.kind = ProblemKind::fe_heat;
  auto& fe = options.fe_heat;
  fe.elements = {5, 4, 6};
  fe.lower = {0.5, -1, 0};
  fe.upper = {1.5, 0.25, 3};
  fe.conductivity = "1 + x + 0.5*y + 0.25*z";
  fe.source = "-1.625"; // - 2 * 1 + 1 * 0.5 - 0.5 * 0.25
  fe.exact = "1 + 2*x - y + 0.5*z";
  fe.faces = {grid::Face<FaceCondition>{FaceCondition::temperature, *fe.exact},
              {FaceCondition::flux, "(1 + x + 0.5*y + 0.25*z) * 2"},
              {FaceCondition::flux, "(1 + x + 0.5*y + 0.25*z)"},
              {FaceCondition::temperature, *fe.exact},
              {FaceCondition::flux, "(1 + x + 0.5*y + 0.25*z) * -0.5"},
              {FaceCondition::flux, "(1 + x + 0.5*y + 0.25*z) * 0.5"}};
  options.solver.tolerance = 1e-13;
  return options;
}

/// That of inputs/cg/heat-fe.yaml.
Options smooth_problem(std::int64_t elements) {
  Options options;
  options.kind = ProblemKind::fe_heat;
  auto& fe = options.fe_heat;
  fe.elements = {elements, elements, elements};
  fe.conductivity = "1 + x*y";
  fe.exact = "sin(pi*y/2) * cos(pi*z) * (1 + x^2)";
  fe.source = "1.25*pi^2 * (1 + x*y) * sin(pi*y/2) * cos(pi*z) * (1 + x^2)"
              "- 2 * (1 + 2*x*y) * sin(pi*y/2) * cos(pi*z) - pi/2 * x * cos(pi*y/2) * cos(pi*z) * (1 + x^2)";
  fe.faces[1] = {FaceCondition::flux, "(1 + y) * 2 * sin(pi*y/2) * cos(pi*z)"};
  fe.faces[2] = {FaceCondition::temperature, "0"};
  return options;
}

/// miniFE's.
Options cube_problem(std::vector<std::int64_t> elements) {
  Options options;
  options.kind = ProblemKind::fe_heat;
  options.fe_heat.elements = std::move(elements);
  for (auto& face : options.fe_heat.faces) face = {FaceCondition::temperature, "0"};
  options.fe_heat.faces[1].value = "1";
  return options;
}

/// Of problems, whose process grid is chosen unless it is given.
class FeHeat : public testing::Test {
 protected:
  /// Collective over the ranks of `comm`.
  LinearSystem build(Options options, const comm::Communicator& comm) {
    lay_out(options, comm);
    return make_fe_heat(options, {comm, true, loan_.timers, loan_.progress})->build();
  }
  /// Collective over the world.
  miniapp::Verification solve(Options options) {
    lay_out(options, world_);
    return App(options, world_).verified();
  }

  miniapp::test::Loan loan_{"cg"};
  const comm::Communicator& world_ = loan_.comm;
  const comm::Communicator self_{MPI_COMM_SELF};
};

/// Collective. A hash of matrix and right-hand side by the numbers of the whole matrix, whatever rank has which rows.
/// Columns must be in order.
std::uint64_t hash_of(const LinearSystem& system, const comm::Communicator& comm) {
  const auto global = on_host(system.partition.global);
  const HostRows rows(system.matrix);
  const auto rhs = on_host(system.rhs), initial = on_host(system.initial);
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t row, std::uint64_t column, double value) {
    hash += random::mix(random::mix(random::mix(row + 1) + column) ^ std::bit_cast<std::uint64_t>(value));
  };
  for (LocalIndex r = 0; r < system.partition.own; ++r) {
    const auto row = static_cast<std::uint64_t>(global[r]);
    for (auto e = rows.offsets[r]; e < rows.offsets[r + 1]; ++e) {
      add(row, static_cast<std::uint64_t>(global[rows.columns[e]]), rows.values[e]);
      if (e > rows.offsets[r]) {
        EXPECT_LT(global[rows.columns[e - 1]], global[rows.columns[e]]);
      }
    }
    add(row, ~0ull, rhs[r]);
    add(row, ~1ull, initial[r]);
  }
  return comm::allreduce(comm, hash, comm::ReduceOp::sum);
}

TEST_F(FeHeat, HasTheSameBitsOnAnyProcessGrid) {
  auto options = linear_problem();
  options.fe_heat.conductivity = "1 + x*x + 0.3*sin(y)*z";
  options.fe_heat.source = "exp(x*y) - z";
  options.initial = "x + 3*z";
  const auto alone = hash_of(build(options, self_), self_);
  const std::int64_t n = world_.size();
  std::vector<std::vector<std::int64_t>> grids{{}, {n, 1, 1}, {1, n, 1}, {1, 1, n}};
  if (n == 4) grids.insert(grids.end(), {{2, 2, 1}, {2, 1, 2}, {1, 2, 2}});
  for (const auto& grid : grids) {
    options.process_grid = grid;
    EXPECT_EQ(hash_of(build(options, world_), world_), alone) << testing::PrintToString(grid);
  }
}

TEST_F(FeHeat, IsSymmetricToTheBit) {
  auto options = linear_problem();
  options.fe_heat.conductivity = "1 + x*x + 0.3*sin(y)*z";
  const HostRows a(build(options, self_).matrix);
  std::map<std::pair<LocalIndex, LocalIndex>, double> entries, transposed;
  for (LocalIndex row = 0; row < a.rows(); ++row)
    for (auto e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
      entries[{row, a.columns[e]}] = a.values[e];
      transposed[{a.columns[e], row}] = a.values[e];
    }
  EXPECT_TRUE(entries == transposed);
}

TEST_F(FeHeat, BoundsTheSmallestEigenvalue) {
  for (const bool all_fixed : {true, false}) {
    auto options = all_fixed ? cube_problem({5, 4, 3}) : smooth_problem(4);
    options.fe_heat.exact = "1"; // so that there is a bound
    const auto system = build(options, self_);
    // Power iteration with c - A; c is above the largest eigenvalue.
    const HostRows a(system.matrix);
    const double c = 8;
    const auto shifted = [&](const Values& x) {
      auto y = plain_product(a, x);
      for (std::size_t r = 0; r < x.size(); ++r) y[r] = c * x[r] - y[r];
      return y;
    };
    Values free; // 1 in free points
    for (LocalIndex r = 0; r < a.rows(); ++r) free.push_back(a.offsets[r + 1] - a.offsets[r] > 1 ? 1 : 0);
    const double eigenvalue = c - eigenvalue_of(shifted, free, 3000);
    EXPECT_LE(system.error_bound->least_eigenvalue, eigenvalue * (1 + 1e-6));
    EXPECT_GE(system.error_bound->least_eigenvalue, eigenvalue / 10);
  }
}

TEST_F(FeHeat, KeepsOnlyTheDiagonalOfFixedRows) {
  auto options = cube_problem({3, 3, 3});
  options.fe_heat.faces[1].value = "2 + y";
  options.initial = "7";
  const auto system = build(options, self_);
  const HostRows a(system.matrix);
  const auto initial = on_host(system.initial), rhs = on_host(system.rhs);
  int fixed = 0;
  for (LocalIndex row = 0; row < a.rows(); ++row) {
    const auto i = row % 4, j = row / 4 % 4, k = row / 16;
    const bool inside = i > 0 && i < 3 && j > 0 && j < 3 && k > 0 && k < 3;
    EXPECT_EQ(a.offsets[row + 1] - a.offsets[row], inside ? 8 : 1);
    if (inside) {
      EXPECT_EQ(initial[row], 7);
      continue;
    }
    ++fixed;
    const double value = i == 3 && j > 0 && j < 3 && k > 0 && k < 3 ? 2 + j / 3. : 0;
    EXPECT_NEAR(initial[row], value, 1e-15);
    EXPECT_GT(a.values[a.offsets[row]], 0);
    EXPECT_EQ(rhs[row], a.values[a.offsets[row]] * initial[row]);
  }
  EXPECT_EQ(fixed, 56);
}

TEST_F(FeHeat, HasALinearTemperatureExactly) {
  const auto result = solve(linear_problem());
  EXPECT_TRUE(result.passed()) << result.measure << " " << result.error << " " << result.tolerance;
  EXPECT_LT(result.error, 1e-11);
  auto wrong = linear_problem();
  wrong.fe_heat.faces[1].value = "(1 + x + 0.5*y + 0.25*z) * 1.999";
  const auto found = solve(wrong);
  EXPECT_TRUE(found.failed());
  EXPECT_GT(found.error, 1e-5);
}

TEST_F(FeHeat, IsOfSecondOrderAndTheEstimateCoversIt) {
  double before = 0;
  for (const std::int64_t n : {8, 16, 32}) {
    const auto result = solve(smooth_problem(n));
    EXPECT_TRUE(result.passed()) << n << ": " << result.error << " " << result.tolerance;
    EXPECT_GT(result.error, 0.02 * result.tolerance) << n; // which is no wider than need be
    if (n > 8) {
      EXPECT_NEAR(before / result.error, 4, 0.35) << n; // points on fixed faces count, where there is no error
    }
    before = result.error;
  }
}

TEST_F(FeHeat, FailsBesideAnotherSolution) {
  auto options = smooth_problem(8);
  options.fe_heat.exact = "1.05 * sin(pi*y/2) * cos(pi*z) * (1 + x^2)";
  EXPECT_TRUE(solve(options).failed());
  options.verification_tolerance = 0.5;
  EXPECT_TRUE(solve(options).passed());
}

TEST_F(FeHeat, SaysThatFewElementsProveNothing) {
  auto flat = smooth_problem(8);
  flat.fe_heat.elements[1] = 1;
  const auto coarse = solve(flat);
  EXPECT_FALSE(coarse.conclusive);
  EXPECT_NE(coarse.remark.find("elements"), std::string::npos);
  auto options = smooth_problem(8);
  options.solver.tolerance = 0;
  options.solver.max_iterations = 2;
  const auto early = solve(options);
  EXPECT_FALSE(early.conclusive);
  EXPECT_NE(early.remark.find("iterations"), std::string::npos);
}

/// What is wrong with a deck that has these lines in problem.fe_heat.
std::string refusal(const std::string& lines, int ranks, const std::string& rest = "") {
  return refusal_of("app: cg\nproblem: {kind: fe_heat, fe_heat: {" + lines + "}}\n" + rest, ranks);
}

TEST(FeHeatOptions, RefusesWhatHasNoSolution) {
  const std::string fixed = "boundary: {x_min: {temperature: 0}}";
  EXPECT_EQ(refusal("elements: [4, 4, 4], " + fixed, 3), "");
  expect_facts(refusal("elements: [4, 4, 4], boundary: {x_min: {flux: 1}}", 1),
               {"problem.fe_heat.boundary", "temperature", "singular"});
  expect_facts(refusal("domain: {lower: [0, 1, 0], upper: [1, 1, 1]}, " + fixed, 1),
               {"problem.fe_heat.domain.upper", "[1, 1, 1]", "[0, 1, 0]"});
  expect_facts(refusal(fixed, 1, "verification: {tolerance: 1}"), {"verification.tolerance", "exact"});
  expect_facts(refusal("elements: [1, 1, 1], " + fixed, 16),
               {"problem.fe_heat.elements", "[1, 1, 1]", "2 x 2 x 2 points", "16 ranks"});
  expect_facts(refusal("elements: [1000000, 1000000, 1000000], " + fixed, 1), {"problem.fe_heat.elements", "1e+15"});
  expect_facts(refusal("elements: [3000, 1000, 1000], " + fixed, 1), {"problem.fe_heat.elements", "2147483647"});
}

TEST_F(FeHeat, RefusesFunctionsThatAreNotFiniteOrNotPositive) {
  const auto expect_refused = [&](const auto& change, const std::vector<std::string>& facts) {
    auto options = cube_problem({5, 5, 5});
    change(options.fe_heat);
    expect_facts(error_of([&] { build(options, world_); }), facts);
  };
  expect_refused([](auto& fe) { fe.conductivity = "x - 0.97"; }, {"x - 0.97", "x = 0.", "above 0"}); // on one rank only
  expect_refused([](auto& fe) { fe.conductivity = "0"; }, {"above 0"});
  expect_refused([](auto& fe) { fe.source = "log(x - 0.5)"; }, {"log(x - 0.5)", "finite"});
  // In points on the face's edge.
  expect_refused([](auto& fe) { fe.faces[5].value = "1/(y - 1)"; }, {"1/(y - 1)", "y = 1", "finite"});
}

TEST_F(FeHeat, RefusesWhatDoesNotFitIntoMemory) {
  auto options = cube_problem({30000, 30000, 30000});
  expect_facts(error_of<comm::AgreedError>([&] { build(options, world_); }), {"GB free", "fit on"});
}

} // namespace
} // namespace kontor::cg::test

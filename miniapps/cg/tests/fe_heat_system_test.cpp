// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices and right-hand sides of fe_heat: the same bits on any ranks, symmetric, with a bound of the eigenvalues.
#include "fe_heat_case.hpp"
#include "random/counter_random.hpp"
#include "small_system.hpp"

#include <kontor/comm/collectives.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace kontor::cg::test {
namespace {

/// A matrix that the host reads.
struct HostRows {
  explicit HostRows(const CompressedRows& a)
      : offsets(on_host(a.offsets)), columns(on_host(a.columns)), values(on_host(a.values)) {}
  LocalIndex rows() const { return static_cast<LocalIndex>(offsets.size()) - 1; }

  std::vector<std::int64_t> offsets;
  std::vector<LocalIndex> columns;
  Values values;
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
  std::map<std::pair<LocalIndex, LocalIndex>, double> entries;
  for (LocalIndex row = 0; row < a.rows(); ++row)
    for (auto e = a.offsets[row]; e < a.offsets[row + 1]; ++e) entries[{row, a.columns[e]}] = a.values[e];
  for (const auto& [place, value] : entries) {
    const auto other = entries.find({place.second, place.first});
    ASSERT_NE(other, entries.end());
    EXPECT_EQ(value, other->second);
  }
}

TEST_F(FeHeat, AddsAtomicallyWhatItGathers) {
  auto options = linear_problem();
  options.fe_heat.conductivity = "1 + x*x + 0.3*sin(y)*z";
  const auto gathered = build(options, world_);
  options.fe_heat.assembly = Assembly::atomic;
  const auto added = build(options, world_);
  const auto expect_near = [](const auto& one, const auto& other) {
    const auto a = on_host(one), b = on_host(other);
    ASSERT_EQ(a.size(), b.size());
    const double largest = difference(a, Values(a.size()));
    EXPECT_GT(largest, 0);
    EXPECT_LE(difference(a, b), 1e-14 * largest);
  };
  expect_near(gathered.matrix.values, added.matrix.values);
  expect_near(gathered.rhs, added.rhs);
}

TEST_F(FeHeat, BoundsTheSmallestEigenvalue) {
  for (const bool all_fixed : {true, false}) {
    auto options = all_fixed ? cube_problem({5, 4, 3}) : smooth_problem(4);
    options.fe_heat.exact = "1"; // so that there is a bound
    const auto system = build(options, self_);
    // Power iteration with c - A; c is above the largest eigenvalue.
    const HostRows a(system.matrix);
    const auto n = static_cast<std::size_t>(a.rows());
    const double c = 8;
    std::vector<double> x(n), y(n);
    for (std::size_t r = 0; r < n; ++r) x[r] = a.offsets[r + 1] - a.offsets[r] > 1 ? 1 : 0; // of free points
    double eigenvalue = 0;
    for (int iteration = 0; iteration < 3000; ++iteration) {
      double norm = 0;
      for (std::size_t r = 0; r < n; ++r) {
        y[r] = c * x[r];
        for (auto e = a.offsets[r]; e < a.offsets[r + 1]; ++e)
          y[r] -= a.values[e] * x[static_cast<std::size_t>(a.columns[e])];
        norm += y[r] * y[r];
      }
      norm = std::sqrt(norm);
      for (std::size_t r = 0; r < n; ++r) x[r] = y[r] / norm;
      eigenvalue = c - norm;
    }
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

} // namespace
} // namespace kontor::cg::test

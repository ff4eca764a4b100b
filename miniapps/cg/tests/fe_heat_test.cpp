// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solutions of fe_heat: those that trilinear functions have exactly, and others with an error of second order.
#include "cg/problem/box_series.hpp"
#include "fe_heat_case.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

namespace kontor::cg::test {
namespace {

TEST_F(FeHeat, HasALinearTemperatureExactly) {
  for (const auto assembly : {Assembly::gather, Assembly::atomic}) {
    auto options = linear_problem();
    options.fe_heat.assembly = assembly;
    const auto result = solve(options);
    EXPECT_TRUE(result.passed()) << result.measure << " " << result.error << " " << result.tolerance;
    EXPECT_LT(result.error, 1e-11);
  }
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

TEST_F(FeHeat, MatchesTheSeriesOfACube) {
  auto options = cube_problem({14, 12, 10});
  EXPECT_TRUE(solve(options).passed());
  options.fe_heat.faces[0].value = "0.2"; // others than that of miniFE
  options.fe_heat.faces[4].value = "-1";
  options.fe_heat.source = "3";
  options.fe_heat.conductivity = "2";
  EXPECT_TRUE(solve(options).passed());
}

TEST(BoxSeries, AddsUpOverTheFaces) {
  const grid::Block cube{.centering = grid::Centering::points,
                         .global = {9, 9, 9},
                         .extents = {9, 9, 9},
                         .spacing = {0.125, 0.125, 0.125}};
  const grid::HostBlockView<double> values("values", 9, 9, 9);
  fill_box_series(values, cube, {0, 1, 0, 0, 0, 0});
  EXPECT_NEAR(values(4, 4, 4), 1. / 6, 1e-15); // six such cubes make one that is 1 everywhere
  EXPECT_EQ(values(4, 4, 8), 1);
  EXPECT_EQ(values(0, 4, 8), 0); // the later face decides
  auto box = cube;
  box.spacing = {0.125, 0.2, 0.3};
  fill_box_series(values, box, {1, 1, 1, 1, 1, 1});
  for (std::size_t i = 0; i < values.span(); ++i) EXPECT_NEAR(values.data()[i], 1, 1e-13);
}

/// Source 1 with all faces at 0, as the sum over x, y and z that it is by definition.
TEST(BoxSeries, OfASource) {
  const grid::Block box{
      .centering = grid::Centering::points, .global = {9, 7, 6}, .extents = {9, 7, 6}, .spacing = {0.125, 0.2, 0.3}};
  const grid::HostBlockView<double> values("values", 6, 7, 9);
  fill_box_series(values, box, {}, 2);
  const double pi = std::numbers::pi, a = 1, b = 1.2, c = 1.5;
  for (const auto& [i, j, k] : {std::array{4, 3, 2}, {1, 1, 1}, {7, 2, 4}}) {
    double sum = 0;
    for (int l = 1; l < 160; l += 2)
      for (int m = 1; m < 160; m += 2)
        for (int n = 1; n < 160; n += 2)
          sum += std::sin(l * pi * i / 8) * std::sin(m * pi * j / 6) * std::sin(n * pi * k / 5) /
                 (l * m * n * (l * l / (a * a) + m * m / (b * b) + n * n / (c * c)));
    EXPECT_NEAR(values(k, j, i), 2 * 64 / std::pow(pi, 5) * sum, 2e-6);
  }
  EXPECT_EQ(values(3, 0, 4), 0);
}

} // namespace
} // namespace kontor::cg::test

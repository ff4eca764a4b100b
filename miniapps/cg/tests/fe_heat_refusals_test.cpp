// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What fe_heat refuses.
#include "fe_heat_case.hpp"
#include "refusal.hpp"

#include <kontor/comm/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace kontor::cg::test {
namespace {

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
  const auto refused = [&](const Options& options) { return error_of([&] { build(options, world_); }); };
  auto options = cube_problem({5, 5, 5});
  options.fe_heat.conductivity = "x - 0.97"; // of one rank's elements only
  expect_facts(refused(options), {"x - 0.97", "x = 0.", "above 0"});
  options.fe_heat.conductivity = "0";
  expect_facts(refused(options), {"above 0"});
  options = cube_problem({5, 5, 5});
  options.fe_heat.source = "log(x - 0.5)";
  expect_facts(refused(options), {"log(x - 0.5)", "finite"});
  options = cube_problem({5, 5, 5});
  options.fe_heat.faces[5].value = "1/(y - 1)"; // in points on the face's edge
  expect_facts(refused(options), {"1/(y - 1)", "y = 1", "finite"});
}

TEST_F(FeHeat, RefusesWhatDoesNotFitIntoMemory) {
  auto options = cube_problem({30000, 30000, 30000});
  expect_facts(error_of<comm::AgreedError>([&] { build(options, world_); }),
               {"cg/values", "cg/columns", "GB free", "fit on"});
}

} // namespace
} // namespace kontor::cg::test

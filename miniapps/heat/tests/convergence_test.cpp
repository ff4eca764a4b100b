// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error falls with the square of the cell size, on three grids, for each equation, in 2-D and 3-D and with every
// kind of boundary.
#include "run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kontor::heat::test {
namespace {

struct Case {
  const char* name;
  const char* deck; ///< with {0} for the number of cells along each axis
  std::vector<int> cells;
};

const Case cases[] = {
    {"steady_2d_neumann_and_source_on_an_oblong_box",
     R"deck(
app: heat
problem:
  cells: [{0}, {0}]
  domain: {{lower: [-1, 0.5], upper: [1, 1.5]}}
  diffusivity: 0.5
  source: "0.375*sin(x)*exp(y/2)"
  boundary: {{x_min: {{dirichlet: "sin(x)*exp(y/2)"}}, x_max: {{neumann: "cos(x)*exp(y/2)"}},
    y_min: {{neumann: "-0.5*sin(x)*exp(y/2)"}}, y_max: {{dirichlet: "sin(x)*exp(y/2)"}}}}
  exact: "sin(x)*exp(y/2)"
solver: {{tolerance: 1.0e-12}}
)deck",
     {12, 24, 48}},
    {"steady_3d_periodic_along_z",
     R"deck(
app: heat
problem:
  cells: [{0}, {0}, {0}]
  source: "4*pi^2*sin(2*pi*z)*(x+y)"
  boundary: {{x_min: {{dirichlet: "(x+y)*sin(2*pi*z)"}}, x_max: {{dirichlet: "(x+y)*sin(2*pi*z)"}},
    y_min: {{neumann: "-sin(2*pi*z)"}}, y_max: {{dirichlet: "(x+y)*sin(2*pi*z)"}}, z_min: periodic, z_max: periodic}}
  exact: "(x+y)*sin(2*pi*z)"
solver: {{tolerance: 1.0e-12}}
)deck",
     {8, 16, 32}},
    {"transient_3d_with_moving_boundary_and_source",
     R"deck(
app: heat
problem:
  equation: transient
  cells: [{0}, {0}, {0}]
  diffusivity: 0.25
  initial: "x^2 + y*z"
  source: "cos(t) - 0.5"
  boundary: {{x_min: {{dirichlet: "x^2 + y*z + sin(t)"}}, x_max: {{neumann: "2*x"}},
    y_min: {{dirichlet: "x^2 + y*z + sin(t)"}}, y_max: {{dirichlet: "x^2 + y*z + sin(t)"}},
    z_min: {{neumann: "-y"}}, z_max: {{dirichlet: "x^2 + y*z + sin(t)"}}}}
  exact: "x^2 + y*z + sin(t)"
time: {{end: 0.2}}
)deck",
     {6, 12, 24}},
};

class Convergence : public testing::TestWithParam<Case> {};

TEST_P(Convergence, IsOfSecondOrder) {
  std::vector<double> errors;
  for (const int n : GetParam().cells) {
    const auto result = verified(fmt::format(fmt::runtime(GetParam().deck), n));
    EXPECT_TRUE(result.passed()) << n << " cells: " << result.error << " against " << result.tolerance;
    errors.push_back(result.error);
  }
  for (std::size_t i = 1; i < errors.size(); ++i) {
    const double order = std::log2(errors[i - 1] / errors[i]);
    EXPECT_NEAR(order, 2.0, 0.25) << "from " << GetParam().cells[i - 1] << " cells, error " << errors[i - 1] << ", to "
                                  << GetParam().cells[i] << ", error " << errors[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Heat, Convergence, testing::ValuesIn(cases),
                         [](const auto& instance) { return std::string(instance.param.name); });

} // namespace
} // namespace kontor::heat::test

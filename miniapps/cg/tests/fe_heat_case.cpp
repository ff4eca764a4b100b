// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fe_heat_case.hpp"

#include "grid/process_grid.hpp"

#include <utility>

namespace kontor::cg::test {

namespace {

void lay_out(Options& options, const comm::Communicator& comm) {
  if (!options.process_grid.empty()) return;
  const auto points = options.fe_heat.points();
  const auto grid = grid::smallest_surface_grid(comm.size(), points);
  options.process_grid.assign(grid.begin(), grid.end());
}

} // namespace

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

Options cube_problem(std::vector<std::int64_t> elements) {
  Options options;
  options.kind = ProblemKind::fe_heat;
  options.fe_heat.elements = std::move(elements);
  for (auto& face : options.fe_heat.faces) face = {FaceCondition::temperature, "0"};
  options.fe_heat.faces[1].value = "1";
  return options;
}

LinearSystem FeHeat::build(Options options, const comm::Communicator& comm) {
  lay_out(options, comm);
  return make_fe_heat(options, {comm, true, timers_, progress_})->build();
}

miniapp::Verification FeHeat::solve(Options options) {
  lay_out(options, world_);
  return App(options, world_).verified();
}

} // namespace kontor::cg::test

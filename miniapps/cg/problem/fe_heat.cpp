// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// - div(k grad T) = s by trilinear elements on a uniform grid; see docs/apps/cg.md.
#include "cg/problem/assembly.hpp"
#include "cg/problem/boundary.hpp"
#include "cg/problem/box_problem.hpp"
#include "cg/problem/known_solution.hpp"

#include <kontor/comm/collectives.hpp>

namespace kontor::cg {
namespace {

/// Collective. The smallest value in the Gauss points of elements inside of the box.
double smallest_above_zero(const comm::Communicator& comm, const GaussValues& values) {
  double smallest = 0;
  const auto extent = [&](int d) { return static_cast<std::int64_t>(values.extent(d)); };
  Kokkos::parallel_reduce(
      "cg/smallest conductivity", BoxPolicy({0, 0, 0}, {extent(0), extent(1), extent(2)}),
      KOKKOS_LAMBDA(int k, int j, int g, double& least) {
        for (int i = 0; i < static_cast<int>(values.extent(3)); ++i)
          if (const double value = values(k, j, g, i); value > 0 && value < least) least = value;
      },
      Kokkos::Min<double>(smallest));
  return comm::allreduce(comm, smallest, comm::ReduceOp::min);
}

class FeHeat final : public BoxProblem {
 public:
  FeHeat(const Options& options, const miniapp::RunContext& context)
      : BoxProblem(options, context), options_(options.fe_heat), conductivity_(options_.conductivity),
        source_(options_.source) {
    make_rows(options, true);
  }

  LinearSystem build(const TakeFile& /*take*/) override {
    LinearSystem system{.partition = box_.partition};
    FeMesh mesh{};
    timed("structure", [&] {
      mesh = make_fe_mesh(box_, options_.faces);
      system.matrix = make_structure(mesh);
    });
    system.rhs = Vector("cg/b", box_.partition.own);

    const auto& block = box_.block;
    const auto integrals = element_integrals(block.spacing);
    grid::FiniteCheck finite, positive = grid::FiniteCheck::positive();
    const bool heated = !source_.zero();
    if (heated) { // of conductivity and source one is there at a time
      GaussValues source;
      timed("elements", [&] { source = at_gauss_points("cg/source", block, source_, finite); });
      timed("assembly", [&] { assemble_load(mesh, integrals, source, system.rhs); });
    }
    double smallest = 0;
    {
      GaussValues conductivity;
      timed("elements", [&] { conductivity = at_gauss_points("cg/conductivity", block, conductivity_, positive); });
      positive.agree(cartesian_);
      std::optional<RowValues> rows;
      timed("structure", [&] { rows = system.make_room(solver_); });
      timed("assembly", [&] {
        assemble_matrix(mesh, integrals, conductivity, *rows);
        smallest = smallest_above_zero(cartesian_, conductivity);
      });
      timed("boundary", [&] {
        const auto faces = evaluate_faces(block, options_.faces, finite);
        apply_boundary(mesh, integrals, conductivity, faces, block.spacing, *rows, system.rhs);
        system.initial = values_at_points(box_, initial_, "cg/initial", finite);
        set_temperatures(mesh, faces, system.initial);
      });
    }
    if (options_.exact)
      timed("solution", [&] {
        auto known = known_solution(*options_.exact, cartesian_, box_, finite);
        known.bound.least_eigenvalue = smallest * least_eigenvalue(options_);
        system.exact = [values = known.values](const Vector& to) { Kokkos::deep_copy(to, values); };
        system.error_bound = known.bound;
      });
    finite.agree(cartesian_);
    return system;
  }

  std::string field() const override { return "temperature"; }

 private:
  FeHeatOptions options_;
  grid::DeckFunction conductivity_, source_;
};

} // namespace

std::unique_ptr<Problem> make_fe_heat(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<FeHeat>(options, context);
}

} // namespace kontor::cg

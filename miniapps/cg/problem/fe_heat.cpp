// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// - div(k grad T) = s by trilinear elements on a uniform grid; see README.md.
#include "cg/memory.hpp"
#include "cg/problem/assembly.hpp"
#include "cg/problem/boundary.hpp"
#include "cg/problem/box_rows.hpp"
#include "cg/problem/known_solution.hpp"
#include "cg/problem/problem.hpp"
#include "grid/functions.hpp"
#include "grid/process_grid.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/device/compat.hpp>

#include <array>
#include <type_traits>
#include <utility>
#include <vector>

namespace kontor::cg {
namespace {

/// Calls work() in a region that is timed apart from the solver's; waits for the device.
template <class Work>
auto timed(miniapp::Timers& timers, const char* region, const Work& work) {
  const miniapp::ScopedTimer timer(timers.once(region));
  if constexpr (std::is_void_v<decltype(work())>) {
    work();
    device::fence(Space(), "cg/built");
  } else {
    auto result = work();
    device::fence(Space(), "cg/built");
    return result;
  }
}

struct SmallestAboveZero {
  GaussValues values;
  KOKKOS_FUNCTION void operator()(int k, int j, int g, double& smallest) const {
    for (int i = 0; i < static_cast<int>(values.extent(3)); ++i)
      if (const double value = values(k, j, g, i); value > 0 && value < smallest) smallest = value;
  }
};

/// Collective. The smallest value in the Gauss points of elements inside of the box.
double smallest_above_zero(const comm::Communicator& comm, const GaussValues& values) {
  double smallest = 0;
  const auto extent = [&](int d) { return static_cast<std::int64_t>(values.extent(d)); };
  Kokkos::parallel_reduce("cg/smallest conductivity", FePolicy({0, 0, 0}, {extent(0), extent(1), extent(2)}),
                          SmallestAboveZero{values}, Kokkos::Min<double>(smallest));
  return comm::allreduce(comm, smallest, comm::ReduceOp::min);
}

class FeHeat final : public Problem {
 public:
  FeHeat(const Options& options, const miniapp::RunContext& context)
      : options_(options.fe_heat), process_grid_(options.process_grid),
        cartesian_(grid::make_cartesian(context.comm, options.process_grid, {false, false, false})),
        conductivity_(options_.conductivity), source_(options_.source), initial_(options.initial),
        timers_(context.timers), box_(make_fitting_rows(options)), mesh_(make_fe_mesh(box_, options_.faces)) {
  }

  LinearSystem build() override {
    LinearSystem system{.partition = box_.partition};
    system.matrix = timed(timers_, "structure", [&] { return make_structure(mesh_); });
    system.rhs = Vector("cg/b", box_.partition.own);

    const auto& block = box_.block;
    const auto integrals = element_integrals(spacing());
    grid::FiniteCheck finite, positive(grid::FiniteCheck::Require::positive);
    const bool heated = !source_.zero();
    GaussValues conductivity, source;
    timed(timers_, "elements", [&] {
      conductivity = at_gauss_points("cg/conductivity", block, conductivity_, positive);
      if (heated) source = at_gauss_points("cg/source", block, source_, finite);
    });
    positive.agree(cartesian_);
    timed(timers_, "assembly", [&] {
      const bool gather = options_.assembly == Assembly::gather;
      (gather ? gather_matrix : add_matrix)(mesh_, integrals, conductivity, system.matrix);
      if (heated) (gather ? gather_load : add_load)(mesh_, integrals, source, system.rhs);
    });
    system.initial = values_at_points(box_, initial_, "cg/initial", finite);
    timed(timers_, "boundary", [&] {
      const auto faces = evaluate_faces(block, options_.faces, finite);
      apply_boundary(mesh_, integrals, conductivity, faces, spacing(), system.matrix, system.rhs);
      set_temperatures(mesh_, faces, system.initial);
    });
    if (auto known = known_solution(options_, cartesian_, box_, finite)) {
      known->bound.least_eigenvalue =
          smallest_above_zero(cartesian_, conductivity) * least_eigenvalue(options_);
      system.exact = known->values;
      system.error_bound = known->bound;
    }
    finite.agree(cartesian_);
    return system;
  }

  ReferenceRows reference_rows() const override { return fe_heat_reference(options_, box_.partition); }
  std::string field() const override { return "temperature"; }
  std::optional<miniapp::FieldOutput> write(output::File& file, const std::string& group,
                                            const Vector& solution) const override {
    return write_points(file, box_, group, field(), solution);
  }
  void write_vector(output::File& file, const std::string& dataset, const Vector& v) const override {
    write_rows(file, box_, dataset, v);
  }
  void read_vector(const output::Reader& reader, const std::string& dataset, const Vector& v) const override {
    read_rows(reader, box_, dataset, v);
  }

  std::vector<std::int64_t> process_grid() const override { return process_grid_; }

 private:
  std::array<double, 3> spacing() const {
    return {options_.spacing(0), options_.spacing(1), options_.spacing(2)};
  }

  /// Collective. The rows, unless what is to come does not fit into memory.
  BoxRows make_fitting_rows(const Options& options) const {
    return timed(timers_, "partition", [&] {
      const auto points = options.points();
      miniapp::require_memory(cartesian_, views_of_box(options, grid::make_block(points, cartesian_)));
      return make_box_rows(cartesian_, points, true);
    });
  }

  FeHeatOptions options_;
  std::vector<std::int64_t> process_grid_;
  comm::Communicator cartesian_;
  grid::DeckFunction conductivity_, source_, initial_;
  miniapp::Timers& timers_;
  BoxRows box_;
  FeMesh mesh_;
};

} // namespace

std::unique_ptr<Problem> make_fe_heat(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<FeHeat>(options, context);
}

} // namespace kontor::cg

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/options.hpp"

#include "grid/process_grid.hpp"
#include "partition/metis_partition.hpp"

#include <kontor/config/unused.hpp>

#include <fmt/format.h>

#include <string_view>

namespace kontor::dynamics {
namespace {

using config::Named;
using config::Visitor;

constexpr std::array<Named<NumberingKind>, 2> numberings{
    {{"natural", NumberingKind::natural}, {"random", NumberingKind::random}}};
constexpr std::array<Named<Seam>, 2> seams{{{"recompute", Seam::recompute}, {"sum", Seam::sum}}};
constexpr std::array<Named<Assembly>, 3> assemblies{
    {{"gather", Assembly::gather}, {"atomic", Assembly::atomic}, {"scatter_view", Assembly::scatter_view}}};
constexpr std::array<Named<PartitionMethod>, 3> partitions{
    {{"grid", PartitionMethod::grid}, {"bisection", PartitionMethod::bisection}, {"metis", PartitionMethod::metis}}};
constexpr std::array<Named<int>, 6> faces{
    {{"x_min", 0}, {"x_max", 1}, {"y_min", 2}, {"y_max", 3}, {"z_min", 4}, {"z_max", 5}}};
constexpr std::array<std::string_view, 3> axes{"x", "y", "z"};

void describe_formulas(Visitor& v, std::string_view key, Formulas& formulas, std::string_view help) {
  v.section(key, help, [&](Visitor& s) {
    for (std::size_t d = 0; d < axes.size(); ++d)
      s.value(axes[d], formulas[d], axes, fmt::format("Its {} component", axes[d]));
  });
}

} // namespace

void Options::describe(Visitor& v) {
  v.section("problem", "An elastic body: density u_tt = div stress", [&](Visitor& p) {
    p.value("elements", elements, "Elements of the box along x, y and z", {1, std::int64_t{1} << 30}, {3, 3});
    sizing.describe(p, "elements");
    p.value("size", size, "Lengths of the box, one corner of which is the origin", {0, 1e150, true}, {3, 3});
    describe_formulas(p, "map", map, "Where a point of the box is: bends and distorts it");
    p.choice<NumberingKind>("numbering", numbering, numberings, "Elements and nodes along the axes, or at random");
    p.value("seed", seed, "Of random numbering", {0});
    p.value("mesh", mesh, "HDF5 file with a mesh instead of a box: /mesh/coordinates, /mesh/connectivity");
    p.choice<miniapp::Precision>("precision", precision, miniapp::precision_names,
                                 "The scalar type of the fields; sums at nodes are made in double precision");
    p.value("young", young, axes, "Young's modulus, pressure");
    p.value("poisson", poisson, axes, "Poisson's ratio, from 0 to below 0.5");
    p.value("density", density, axes, "Mass per volume");
    describe_formulas(p, "velocity", velocity, "At the start, of the nodes that are not held");
    p.choices<int>("held", held, faces, "Faces whose nodes do not move; the others are free", {0, 6});
  });
  v.section("solver", "How steps are made", [&](Visitor& s) {
    s.choice<Seam>("seam", seam, seams, "Compute elements of other ranks at common nodes too, or add forces");
    s.choice<Assembly>("assembly", assembly, assemblies,
                       "Sums at nodes: gathered in a fixed order, or added by elements");
    s.section("hourglass", "Resistance to modes that one point of integration does not see", [&](Visitor& h) {
      h.value("stiffness", hourglass.stiffness, "Part of the greatest stiffness", {0, 1});
      h.value("viscosity", hourglass.viscosity, "Part of the critical damping", {0, 1});
    });
    s.choice<stepping::Graphs>("graph", graph, stepping::graph_names,
                               "On a GPU, many steps by one launch (on), each by its own (off), or by trial");
  });
  v.section("time", "Steps by central differences", [&](Visitor& t) {
    t.value("steps", steps, "How many", {1});
    t.value("safety", safety, "Part of the least stable step that is taken", {0, 1, true});
    t.value("step", step, "The length of all steps; auto: by the least stable one of all elements",
            {0, 1e300, true});
    t.value("every", every, "Steps for which a least stable step counts", {1});
  });
  v.section("decomposition", "How the elements are divided among the ranks", [&](Visitor& d) {
    d.choice<PartitionMethod>("method", partition, partitions,
                              "Blocks of the box, bisection of coordinates, or METIS");
    d.value("process_grid", process_grid, "Ranks along x, y, z; empty: the smallest surface",
            {1, std::int64_t{1} << 30}, {0, 3});
  });
}

double Options::bytes(double element_count, double node_count) const {
  const double scalar = precision == miniapp::Precision::double_precision ? 8 : 4;
  return element_count * (81 * scalar + 8 * 4 + 8 * 4) + node_count * (9 * scalar + 4 * 8 + 5);
}

void Options::resolve_sizes(const config::Deck& deck, int ranks, const grid::FreeMemory& free_memory) {
  const auto of_rank = [&](const grid::Sizes& whole, const std::vector<std::int64_t>& grid) {
    double element_count = 1, node_count = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      const double part = static_cast<double>((whole[d] + grid[d] - 1) / grid[d]);
      element_count *= part + (grid[d] > 1 ? 1 : 0);
      node_count *= part + 2;
    }
    return bytes(element_count, node_count);
  };
  grid::resolve_box_sizes(sizing, {"problem.elements", "element", elements, process_grid, 0, of_rank}, ranks, deck,
                          free_memory);
}

void Options::resolve(const config::Deck& deck, int ranks, const miniapp::RunOptions& /*run*/) {
  const config::UnusedKeys unused(deck, *this);
  for (const auto* key : {"problem.elements", "problem.size", "problem.map", "problem.numbering", "problem.local",
                          "problem.memory_share"})
    unused.refuse_unless(box(), key, "problem.mesh must not be given");
  unused.refuse_unless(numbering == NumberingKind::random, "problem.seed", "problem.numbering must be random");
  unused.refuse_unless(partition == PartitionMethod::grid, "decomposition.process_grid",
                       "decomposition.method must be grid");
  for (const auto* key : {"time.safety", "time.every"})
    unused.refuse_unless(!step, key, "time.step must be auto");
  if (partition == PartitionMethod::grid && !box())
    deck.fail("decomposition.method", "must be bisection or metis for problem.mesh", "E-DECK-CONFLICT");
  if (partition == PartitionMethod::metis && !partition::has_metis())
    deck.fail("decomposition.method", *partition::metis_refusal(0));
  constexpr double most = 1e15;
  if (static_cast<double>(elements[0]) * static_cast<double>(elements[1]) * static_cast<double>(elements[2]) > most)
    deck.fail("problem.elements", fmt::format("are more than {:.0e}", most), "E-DECK-RANGE");
  if (box() && partition == PartitionMethod::grid)
    grid::resolve_process_grid(process_grid, "decomposition.process_grid", {"problem.elements", "element", elements},
                               ranks, deck);
}

} // namespace kontor::dynamics

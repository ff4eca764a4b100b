// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/options.hpp"

#include <kontor/config/unused.hpp>

namespace kontor::dynamics {
namespace {

using config::Named;
using config::Visitor;
using mesh::Assembly;

constexpr std::array<Named<mesh::SharedNodes>, 2> ways_of_sharing{
    {{"redundant", mesh::SharedNodes::redundant}, {"sum", mesh::SharedNodes::sum}}};
constexpr std::array<Named<Assembly>, 3> assemblies{
    {{"gather", Assembly::gather}, {"atomic", Assembly::atomic}, {"scatter_view", Assembly::scatter_view}}};

} // namespace

void Options::describe(Visitor& v) {
  v.section("problem", "An elastic body: density u_tt = div stress", [&](Visitor& p) {
    mesh.describe(p);
    p.choice<miniapp::Precision>("precision", precision, miniapp::precision_names,
                                 "The scalar type of the fields; sums at nodes are made in double precision");
    p.value("young", young, mesh::axes, "Young's modulus, pressure");
    p.value("poisson", poisson, mesh::axes, "Poisson's ratio, from 0 to below 0.5");
    p.value("density", density, mesh::axes, "Mass per volume");
    mesh::describe_formulas(p, "velocity", velocity, "At the start, of the nodes that are not held");
  });
  v.section("solver", "How steps are made", [&](Visitor& s) {
    s.choice<mesh::SharedNodes>("shared_nodes", shared_nodes, ways_of_sharing,
                                "Compute elements of other ranks at common nodes too, or add forces");
    s.choice<Assembly>("assembly", assembly, assemblies,
                       "Sums at nodes: gathered in a fixed order, or added by elements");
    s.section("hourglass", "Resistance to modes that one point of integration does not see", [&](Visitor& h) {
      h.value("stiffness", hourglass.stiffness, "Part of the greatest stiffness", {0, 1});
      h.value("viscosity", hourglass.viscosity, "Part of the critical damping", {0, 1});
    });
    s.choice<stepping::Launch>("launch", launch, stepping::launch_names,
                               "On a GPU, each step by its own launch, many by one (graph), or by trial");
  });
  v.section("time", "Steps by central differences", [&](Visitor& t) {
    t.value("steps", steps, "How many", {1});
    t.value("safety", safety, "Part of the least stable step that is taken", {0, 1, true});
    t.value("step", step, "The length of all steps; auto: by the least stable one of all elements", {0, 1e300, true});
    t.value("every", every, "Steps for which a least stable step counts", {1});
  });
  mesh.describe_decomposition(v);
}

double Options::bytes(double element_count, double node_count) const {
  const double scalar = precision == miniapp::Precision::double_precision ? 8 : 4;
  return element_count * ((hourglass.viscosity > 0 ? 83 : 70) * scalar + 16 * 4) +
         node_count * (18 * scalar + 4 * 8 + 5);
}

void Options::resolve_sizes(const config::Deck& deck, int ranks, const grid::FreeMemory& free_memory) {
  mesh.resolve_sizes(deck, ranks, free_memory, [&](double elements, double nodes) { return bytes(elements, nodes); });
}

void Options::resolve(const config::Deck& deck, int ranks, const miniapp::RunOptions& /*run*/) {
  const config::UnusedKeys unused(deck, *this);
  for (const auto* key : {"time.safety", "time.every"}) unused.refuse_unless(!step, key, "time.step must be auto");
  mesh.resolve(deck, unused, ranks);
}

} // namespace kontor::dynamics

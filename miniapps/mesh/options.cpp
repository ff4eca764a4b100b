// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mesh/options.hpp"

#include "grid/process_grid.hpp"
#include "grid/sizing.hpp"
#include "partition/metis_partition.hpp"

#include <fmt/format.h>

namespace kontor::mesh {
namespace {

using config::Named;
using config::Visitor;

constexpr std::array<Named<NumberingKind>, 2> numberings{
    {{"natural", NumberingKind::natural}, {"random", NumberingKind::random}}};
constexpr std::array<Named<PartitionMethod>, 3> partitions{
    {{"grid", PartitionMethod::grid}, {"bisection", PartitionMethod::bisection}, {"metis", PartitionMethod::metis}}};
constexpr std::array<Named<int>, 6> faces{
    {{"x_min", 0}, {"x_max", 1}, {"y_min", 2}, {"y_max", 3}, {"z_min", 4}, {"z_max", 5}}};

} // namespace

void describe_formulas(Visitor& v, std::string_view key, Formulas& formulas, std::string_view help) {
  v.section(key, help, [&](Visitor& s) {
    for (std::size_t d = 0; d < axes.size(); ++d)
      s.value(axes[d], formulas[d], axes, fmt::format("The {} component", axes[d]));
  });
}

void Options::describe(Visitor& p) {
  p.value("elements", elements, "Elements of the box along x, y and z", {1, std::int64_t{1} << 30}, {3, 3});
  sizing.describe(p, "elements");
  p.value("size", size, "Lengths of the box, one corner of which is the origin", {0, 1e150, true}, {3, 3});
  describe_formulas(p, "map", map, "Where a point of the box is: bends and distorts it");
  p.choice<NumberingKind>("numbering", numbering, numberings, "Elements and nodes along the axes, or at random");
  p.value("seed", seed, "Of random numbering", {0});
  p.value("mesh", file, "HDF5 file with a mesh instead of a box: /mesh/coordinates, /mesh/connectivity");
  p.choices<int>("held", held, faces, "Faces whose nodes do not move; the others are free", {0, 6});
}

void Options::describe_decomposition(Visitor& v) {
  v.section("decomposition", "How the elements are divided among the ranks", [&](Visitor& d) {
    d.choice<PartitionMethod>("method", partition, partitions, "Blocks of the box, bisection of coordinates, or METIS");
    d.value("process_grid", process_grid, "Ranks along x, y, z; empty: the smallest surface",
            {1, std::int64_t{1} << 30}, {0, 3});
  });
}

void Options::resolve_sizes(const config::Deck& deck, int ranks, const grid::FreeMemory& free_memory,
                            const std::function<double(double, double)>& bytes) {
  const auto of_rank = [&](const grid::Sizes& whole, const std::vector<std::int64_t>& grid) {
    double element_count = 1, node_count = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      const auto part = static_cast<double>((whole[d] + grid[d] - 1) / grid[d]);
      element_count *= part + (grid[d] > 1 ? 1 : 0);
      node_count *= part + 2;
    }
    return bytes(element_count, node_count);
  };
  grid::resolve_box_sizes(sizing, {"problem.elements", "element", elements, process_grid, 0, of_rank}, ranks, deck,
                          free_memory);
}

void Options::resolve(const config::Deck& deck, const config::UnusedKeys& unused, int ranks) {
  for (const auto* key : {"problem.elements", "problem.size", "problem.map", "problem.numbering", "problem.local",
                          "problem.memory_share"})
    unused.refuse_unless(box(), key, "problem.mesh must not be given");
  unused.refuse_unless(numbering == NumberingKind::random, "problem.seed", "problem.numbering must be random");
  unused.refuse_unless(partition == PartitionMethod::grid, "decomposition.process_grid",
                       "decomposition.method must be grid");
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

} // namespace kontor::mesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/size_options.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/expression.hpp>
#include <kontor/config/unused.hpp>
#include <kontor/config/visitor.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

/// Unstructured meshes of hexahedra: from a box or a file, divided among the ranks.
namespace kontor::mesh {

enum class NumberingKind { natural, random };
enum class PartitionMethod { grid, bisection, metis };

using Formulas = std::array<config::Expression, 3>; ///< of the three axes
inline constexpr std::array<std::string_view, 3> axes{"x", "y", "z"};

/// Local. Names the three formulas of a key, of x, y and z.
void describe_formulas(config::Visitor&, std::string_view key, Formulas&, std::string_view help);

/// The keys of a deck that a mesh has.
struct Options {
  std::vector<std::int64_t> elements{40, 8, 8}; ///< x, y, z
  grid::SizeOptions sizing;                     ///< of the elements
  std::vector<double> size{5, 1, 1};            ///< of the box
  Formulas map{"x", "y", "z"};
  NumberingKind numbering = NumberingKind::natural;
  std::int64_t seed = 1;
  config::InputFile file;   ///< instead of a box
  std::vector<int> held{1}; ///< faces: x_min, x_max, y_min, ...

  PartitionMethod partition = PartitionMethod::grid;
  std::vector<std::int64_t> process_grid; ///< x, y, z

  /// The keys of the section problem, and the section decomposition.
  void describe(config::Visitor& problem);
  void describe_decomposition(config::Visitor&);
  /// Collective. The elements of all ranks, where the deck gives those of one or a share of memory. bytes() is local:
  /// those of a rank with so many elements and nodes.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&,
                     const std::function<double(double, double)>& bytes);
  /// Local. Rejects what cannot run on so many ranks.
  void resolve(const config::Deck&, const config::UnusedKeys&, int ranks);

  bool box() const { return file.path.empty(); }
  bool mapped() const { return map[0].text() != "x" || map[1].text() != "y" || map[2].text() != "z"; }
};

} // namespace kontor::mesh

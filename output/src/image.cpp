// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/output/error.hpp>
#include <kontor/output/image.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kontor::output {

std::vector<std::uint64_t> extents(const Image& image, Centering centering) {
  const auto& cells = image.cells;
  if (image.dimensions < 1 || image.dimensions > 3 ||
      std::any_of(cells.begin() + image.dimensions, cells.end(), [](auto layers) { return layers != 1; }))
    throw Error(fmt::format("output: an image of {} dimensions with {} cells; allowed are 1 to 3 dimensions, and "
                            "one layer of cells beyond them",
                            image.dimensions, fmt::join(cells, " x ")));
  std::vector<std::uint64_t> result;
  for (int axis = image.dimensions - 1; axis >= 0; --axis)
    result.push_back(cells[axis] + (centering == Centering::points ? 1 : 0));
  return result;
}

std::vector<std::uint64_t> extents(const Mesh& mesh, const MeshField& field) {
  if (const auto* image = std::get_if<Image>(&mesh)) return extents(*image, field.centering);
  const auto& hexahedra = std::get<Hexahedra>(mesh);
  std::vector<std::uint64_t> result{field.centering == Centering::points ? hexahedra.points : hexahedra.cells};
  if (field.components > 1) result.push_back(field.components);
  return result;
}

} // namespace kontor::output

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pieces.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace kontor::output {

namespace {

Handle select(hid_t dataset, const std::string& name, const Piece& piece) {
  Handle space(H5Dget_space(dataset), H5Sclose, "H5Dget_space", name);
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, piece.start.data(), nullptr, piece.count.data(), nullptr),
        "H5Sselect_hyperslab", name);
  return space;
}

Handle contiguous(const Piece& piece, const std::string& name) {
  const hsize_t count = piece.elements;
  return {H5Screate_simple(1, &count, nullptr), H5Sclose, "H5Screate_simple", name};
}

} // namespace

std::uint64_t elements(const std::vector<std::uint64_t>& extent) {
  return std::accumulate(extent.begin(), extent.end(), std::uint64_t{1}, std::multiplies<>());
}

std::vector<Piece> pieces(const Block& block, std::uint64_t max_elements) {
  std::vector<Piece> result;
  if (elements(block.extent) == 0) return result;
  // Dimension `cut` is cut into slabs, those before it are walked index by index, those after it stay whole.
  const std::size_t rank = block.extent.size();
  std::size_t cut = 0;
  std::uint64_t inner = elements(block.extent) / block.extent[0];
  while (inner > max_elements && cut + 1 < rank) inner /= block.extent[++cut];
  const std::uint64_t slab = std::max<std::uint64_t>(1, max_elements / inner);

  std::vector<std::uint64_t> index(rank, 0);
  std::uint64_t first = 0;
  while (index[0] < block.extent[0]) {
    Piece piece;
    piece.first = first;
    for (std::size_t d = 0; d < rank; ++d) {
      piece.start.push_back(block.offset[d] + index[d]);
      piece.count.push_back(d < cut    ? 1
                            : d == cut ? std::min(slab, block.extent[d] - index[d])
                                       : block.extent[d]);
    }
    piece.elements = piece.count[cut] * inner;
    first += piece.elements;
    index[cut] += piece.count[cut];
    for (std::size_t d = cut; d > 0 && index[d] == block.extent[d]; --d) {
      index[d] = 0;
      ++index[d - 1];
    }
    result.push_back(std::move(piece));
  }
  return result;
}

std::vector<Piece> pieces(const Block& block, hid_t type) {
  return pieces(block, std::max<std::uint64_t>(1, piece_bytes / H5Tget_size(type)));
}

void write_piece(hid_t dataset, const std::string& name, const Piece& piece, hid_t type, const void* data) {
  const Handle space = select(dataset, name, piece);
  const Handle memory = contiguous(piece, name);
  check(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, data), "H5Dwrite", name);
}

void read_piece(hid_t dataset, const std::string& name, const Piece& piece, hid_t type, void* data) {
  const Handle space = select(dataset, name, piece);
  const Handle memory = contiguous(piece, name);
  check(H5Dread(dataset, type, memory, space, H5P_DEFAULT, data), "H5Dread", name);
}

} // namespace kontor::output

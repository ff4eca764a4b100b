// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "part.hpp"

#include "agree.hpp"
#include "pieces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kontor::output {

Block Part::block() const {
  const auto vector = [this](const auto& values) {
    return std::vector<std::uint64_t>(values.begin(), values.begin() + dimensions);
  };
  return {vector(global), vector(offset), vector(extent)};
}

void check_block(const std::string& name, const Block& block, const void* data) {
  const std::size_t dimensions = block.global.size();
  if (dimensions < 1 || dimensions > 3 || block.offset.size() != dimensions ||
      block.extent.size() != dimensions)
    throw Error(
        fmt::format("the block of {} has {} global extents, {} offsets and {} extents; equal numbers from 1 "
                    "to 3 are allowed",
                    name, dimensions, block.offset.size(), block.extent.size()));
  for (std::size_t d = 0; d < dimensions; ++d)
    if (block.offset[d] > block.global[d] || block.extent[d] > block.global[d] - block.offset[d])
      throw Error(fmt::format("the block of {} is out of range: offset ({}) and extent ({}) in ({})", name,
                              fmt::join(block.offset, ", "), fmt::join(block.extent, ", "),
                              fmt::join(block.global, ", ")));
  if (!data && elements(block.extent) > 0)
    throw Error(fmt::format("the block of {} has {} elements but no data", name, elements(block.extent)));
}

std::vector<Part> gather_parts(MPI_Comm comm, const Block& block, std::uint64_t sum) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  Part mine{.dimensions = block.global.size(), .sum = sum};
  std::copy(block.global.begin(), block.global.end(), mine.global.begin());
  std::copy(block.offset.begin(), block.offset.end(), mine.offset.begin());
  std::copy(block.extent.begin(), block.extent.end(), mine.extent.begin());
  std::vector<Part> parts(rank == 0 ? size : 0);
  check_mpi(MPI_Gather(&mine, sizeof mine, MPI_BYTE, parts.data(), sizeof mine, MPI_BYTE, 0, comm),
            "MPI_Gather");
  return parts;
}

void check_parts(const std::string& name, const std::vector<Part>& parts) {
  const std::vector<std::uint64_t> global = parts.front().block().global;
  std::uint64_t covered = 0;
  for (const Part& part : parts) {
    const Block block = part.block();
    if (block.global != global)
      throw Error(fmt::format("ranks disagree on the extents of {}: ({}) and ({})", name,
                              fmt::join(global, ", "), fmt::join(block.global, ", ")));
    covered += elements(block.extent);
  }
  if (covered != elements(global))
    throw Error(fmt::format("the blocks of {} have {} elements together; the array ({}) has {}", name,
                            covered, fmt::join(global, ", "), elements(global)));
}

} // namespace kontor::output

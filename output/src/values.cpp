// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "values.hpp"

#include "descriptor.hpp"
#include "seal.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kontor::output {

const std::byte* BlockValues::box(const Box& box, std::vector<std::byte>& room) const {
  room.resize(elements(box.extent) * size);
  fetch(box, room.data());
  return room.data();
}

void check_block(const std::string& name, const Block& block, bool any) {
  const std::size_t dimensions = block.global.size();
  if (dimensions < 1 || dimensions > 3 || block.offset.size() != dimensions || block.extent.size() != dimensions)
    throw Error(fmt::format("the block of {} has {} global extents, {} offsets and {} extents; equal numbers from 1 "
                            "to 3 are allowed",
                            name, dimensions, block.offset.size(), block.extent.size()));
  for (std::size_t d = 0; d < dimensions; ++d)
    if (block.offset[d] > block.global[d] || block.extent[d] > block.global[d] - block.offset[d])
      throw Error(fmt::format("the block of {} is out of range: offset ({}) and extent ({}) in ({})", name,
                              fmt::join(block.offset, ", "), fmt::join(block.extent, ", "),
                              fmt::join(block.global, ", ")));
  if (!any && elements(block.extent) > 0)
    throw Error(fmt::format("the block of {} has {} elements but no data", name, elements(block.extent)));
}

// Ranks write by themselves where HDF5 has put the dataset: of MPI's collective writes (Open MPI 4.1.4), and of HDF5's
// own on top of them (1.10.8), some ranks never return if another cannot write.
std::uint64_t write_values(int file, std::uint64_t address, const std::string& name, const Block& block,
                           const BlockValues& values) {
  const std::size_t size = values.size;
  std::uint64_t sum = 0;
  std::vector<std::byte> room;
  try {
    for_each_slab(block.extent, size, [&](const Box& slab) {
      const std::byte* run = values.box(slab, room);
      for_each_run(in_array(block, slab), block.global, [&](std::uint64_t place, std::uint64_t count) {
        sum += sum_of(run, count * size, size, place * size);
        write_at(file, address + place * size, run, count * size);
        run += count * size;
      });
    });
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("there is no memory to copy the values of {}", name));
  } catch (const std::exception& error) {
    throw Error(fmt::format("the values of {} cannot be written: {}", name, error.what()));
  }
  return sum;
}

} // namespace kontor::output

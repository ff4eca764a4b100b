// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer.hpp"

#include "agree.hpp"
#include "checksum.hpp"
#include "shared_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

namespace kontor::output {

const std::byte* BlockValues::box(const Box& box, std::vector<std::byte>& room) const {
  const auto* first = data_ ? data_ + byte_offset(box.offset, strides_, size_) : nullptr;
  if (data_ && is_contiguous(box.extent, strides_)) return first;
  room.resize(elements(box.extent) * size_);
  if (data_)
    copy(box.extent, size_, first, strides_, room.data(), contiguous_strides(box.extent));
  else
    fetch_(box, room.data());
  return room.data();
}

const std::byte* HandOver::box(const Box& box) {
  if (failure_.empty()) try {
      const std::byte* data = field_.values.box(box, room_);
      sum_ += box_sum(data, field_.values.size(), in_array(field_.block, box), field_.block.global);
      return data;
    } catch (const std::bad_alloc&) {
      failure_ = fmt::format("there is no memory to copy the values of {}", field_.name);
    } catch (const std::exception& error) {
      failure_ = fmt::format("the values of {} cannot be copied: {}", field_.name, error.what());
    }
  room_.resize(elements(box.extent) * field_.values.size());
  return room_.data();
}

Share write_parallel(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address, const Field& field) {
  const Box mine{field.block.offset, field.block.extent};
  const std::uint64_t row = run_length(mine, field.block.global) * field.values.size();
  std::uint64_t shortest = row > 0 ? row : std::numeric_limits<std::uint64_t>::max();
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &shortest, 1, MPI_UINT64_T, MPI_MIN, comm), "MPI_Allreduce");
  return shortest < long_row_bytes ? write_pieces(comm, path, address, field, rank_count(comm))
                                   : write_rows(comm, path, address, field);
}

Share write_gathered(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address, const Field& field) {
  return rank_count(comm) > 1 ? write_pieces(comm, path, address, field, 1) : write_rows(comm, path, address, field);
}

Share write_rows(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address, const Field& field) {
  const Block& block = field.block;
  const std::size_t size = field.values.size();
  HandOver own(field);
  with_shared_file(comm, path, true, [&](int file) {
    const Pieces pieces = pieces_of(block.extent, size, field.values.are_fetched() ? piece_bytes : cached_bytes);
    EarlySync early(file);
    for (std::uint64_t n = 0; n < pieces.count(); ++n) {
      const Box piece = pieces[n];
      const std::byte* data = own.box(piece);
      own.check();
      for_each_run(in_array(block, piece), block.global, [&](std::uint64_t place, std::uint64_t count) {
        const std::uint64_t position = address + place * size, bytes = count * size;
        write_at(file, position, data, bytes);
        early.wrote(position, bytes);
        data += bytes;
      });
    }
  });
  Share share{own.sum(), {}};
  if (elements(block.extent) > 0) share.written.push_back({block.offset, block.extent});
  return share;
}

namespace {

/// What a block adds to a sum that is 0 once the blocks fill the array and its whole has been taken off: a checksum of
/// each corner, whose signs alternate. Corners of adjacent blocks cancel each other, and boxes have the same corners
/// left over exactly if they cover the same elements equally often.
std::uint64_t corners(const Extents& offset, const Extents& extent) {
  std::uint64_t sum = 0;
  Extents corner(offset.size());
  for (unsigned upper = 0; upper < 1U << offset.size(); ++upper) {
    bool odd = false;
    for (std::size_t d = 0; d < offset.size(); ++d) {
      const bool far = (upper >> d & 1U) != 0;
      corner[d] = offset[d] + (far ? extent[d] : 0);
      odd = odd != far;
    }
    const std::uint64_t value = checksum(corner.data(), corner.size() * sizeof corner[0]);
    sum += odd ? -value : value;
  }
  return sum;
}

} // namespace

void check_block(const std::string& name, const Block& block, const Strides& strides, bool any) {
  const std::size_t dimensions = block.global.size();
  if (dimensions < 1 || dimensions > 3 || block.offset.size() != dimensions || block.extent.size() != dimensions)
    throw Error(fmt::format("the block of {} has {} global extents, {} offsets and {} extents; equal numbers from 1 "
                            "to 3 are allowed",
                            name, dimensions, block.offset.size(), block.extent.size()));
  if (!strides.empty() && strides.size() != dimensions)
    throw Error(fmt::format("the block of {} has {} dimensions and {} strides; as many are allowed, or none", name,
                            dimensions, strides.size()));
  for (std::size_t d = 0; d < dimensions; ++d)
    if (block.offset[d] > block.global[d] || block.extent[d] > block.global[d] - block.offset[d])
      throw Error(fmt::format("the block of {} is out of range: offset ({}) and extent ({}) in ({})", name,
                              fmt::join(block.offset, ", "), fmt::join(block.extent, ", "),
                              fmt::join(block.global, ", ")));
  if (!any && elements(block.extent) > 0)
    throw Error(fmt::format("the block of {} has {} elements but no data", name, elements(block.extent)));
}

void check_cover(MPI_Comm comm, const std::string& name, const Block& block) {
  const std::uint64_t dimensions = block.global.size();
  std::array<std::uint64_t, 4> first{dimensions};
  std::ranges::copy(block.global, first.begin() + 1);
  check_mpi(MPI_Bcast(first.data(), 4, MPI_UINT64_T, 0, comm), "MPI_Bcast");
  const Extents global(first.begin() + 1, first.begin() + 1 + static_cast<std::ptrdiff_t>(first[0]));
  collectively(comm, [&] {
    if (block.global != global)
      throw Error(fmt::format("ranks disagree on the extents of {}: ({}) and ({})", name, fmt::join(global, ", "),
                              fmt::join(block.global, ", ")));
  });
  std::array<std::uint64_t, 2> sums{elements(block.extent), corners(block.offset, block.extent)};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  if (sums[0] != elements(global))
    throw Error(fmt::format("the blocks of {} have {} elements together; the array ({}) has {}", name, sums[0],
                            fmt::join(global, ", "), elements(global)));
  if (sums[1] != corners(Extents(dimensions, 0), global))
    throw Error(
        fmt::format("the blocks of {} overlap and leave gaps in the array ({})", name, fmt::join(global, ", ")));
}

} // namespace kontor::output

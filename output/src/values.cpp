// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "values.hpp"

#include "agree.hpp"
#include "descriptor.hpp"
#include "seal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace kontor::output {

namespace {

/// Where values that are sent belong in the array; no extent: there are no more.
struct Header {
  std::array<std::uint64_t, 3> offset{}, extent{};
};

} // namespace

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

// Ranks write by themselves where HDF5 has put the dataset: of MPI's collective writes (Open MPI 4.1.4), and of HDF5's
// own on top of them (1.10.8), some ranks never return if another cannot write.
std::uint64_t write_values(MPI_Comm comm, int file, std::uint64_t address, const std::string& name, const Block& block,
                           const BlockValues& values) {
  const int rank = my_rank(comm), ranks = rank_count(comm);
  const std::size_t size = values.size(), dimensions = block.global.size();
  int writers = file >= 0 ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &writers, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  const bool gathers = writers < ranks;
  std::string failure;
  const auto attempt = [&](const auto& step) {
    if (failure.empty()) try {
        step();
      } catch (const std::bad_alloc&) {
        failure = fmt::format("there is no memory to copy the values of {}", name);
      } catch (const std::exception& error) {
        failure = fmt::format("the values of {} cannot be written: {}", name, error.what());
      }
  };
  const auto put = [&](const Box& box, const std::byte* data) {
    attempt([&] {
      for_each_run(box, block.global, [&](std::uint64_t place, std::uint64_t count) {
        write_at(file, address + place * size, data, count * size);
        data += count * size;
      });
    });
  };
  const auto send = [&](const Box& box, const std::byte* data) {
    Header header;
    std::ranges::copy(box.offset, header.offset.begin());
    std::ranges::copy(box.extent, header.extent.begin());
    check_mpi(MPI_Send(&header, sizeof header, MPI_BYTE, 0, 0, comm), "MPI_Send");
    if (data)
      check_mpi(MPI_Send(data, static_cast<int>(elements(box.extent) * size), MPI_BYTE, 0, 0, comm), "MPI_Send");
  };
  std::uint64_t sum = 0;
  std::vector<std::byte> room;
  const Pieces pieces = pieces_of(block.extent, size);
  for (std::uint64_t n = 0; n < pieces.count(); ++n) {
    const Box place = in_array(block, pieces[n]);
    const std::byte* data = nullptr;
    attempt([&] { data = values.box(pieces[n], room); });
    if (!failure.empty()) break;
    const std::byte* run = data;
    for_each_run(place, block.global, [&](std::uint64_t first, std::uint64_t count) {
      sum += sum_of(run, count * size, size, first * size);
      run += count * size;
    });
    gathers&& rank > 0 ? send(place, data) : put(place, data);
  }
  if (gathers && rank > 0) send({}, nullptr);
  for (int other = 1; gathers && rank == 0 && other < ranks;) {
    Header header;
    const auto take = [&](void* to, std::uint64_t bytes) {
      check_mpi(MPI_Recv(to, static_cast<int>(bytes), MPI_BYTE, other, 0, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    };
    take(&header, sizeof header);
    const auto first = [&](const auto& list) { return Extents(list.begin(), list.begin() + dimensions); };
    const Box box{first(header.offset), first(header.extent)};
    room.resize(elements(box.extent) * size);
    if (room.empty()) {
      ++other;
      continue;
    }
    take(room.data(), room.size());
    put(box, room.data());
  }
  collectively(comm, [&] {
    if (!failure.empty()) throw Error(failure);
  });
  return sum;
}

} // namespace kontor::output

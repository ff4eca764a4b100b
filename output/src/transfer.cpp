// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer.hpp"

#include "agree.hpp"
#include "checksum.hpp"
#include "shared_file.hpp"

#include <fmt/format.h>

#include <limits>
#include <new>

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

} // namespace kontor::output

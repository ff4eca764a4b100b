// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "hand_over.hpp"
#include "shared_file.hpp"
#include "transfer.hpp"

#include <limits>

namespace kontor::output {

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

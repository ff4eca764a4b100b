// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "dataset.hpp"
#include "hand_over.hpp"
#include "transfer.hpp"

namespace kontor::output {

namespace {

// Rank 0 asks for every piece, so that no more than one is on its way, and can call the rest off.
enum Ask : int { stop, next };

void send_block(MPI_Comm comm, const Block& block) {
  Extents place = block.offset;
  place.insert(place.end(), block.extent.begin(), block.extent.end());
  check_mpi(MPI_Send(place.data(), static_cast<int>(place.size()), MPI_UINT64_T, 0, 0, comm), "MPI_Send");
}

Block receive_block(MPI_Comm comm, int rank, const Extents& global) {
  Extents place(2 * global.size());
  check_mpi(
      MPI_Recv(place.data(), static_cast<int>(place.size()), MPI_UINT64_T, rank, 0, comm, MPI_STATUS_IGNORE),
      "MPI_Recv");
  const auto middle = place.begin() + static_cast<std::ptrdiff_t>(global.size());
  return {global, {place.begin(), middle}, {middle, place.end()}};
}

void receive_and_write(MPI_Comm comm, hid_t dataset, const Driver& driver, const Field& field, HandOver& own,
                       std::string& failure) {
  const std::size_t size = field.values.size();
  const auto write = [&](const Box& box, const std::byte* data) {
    try {
      write_box(dataset, field.name, box, field.values.type(), data);
      driver.check();
    } catch (const Error& error) {
      failure = error.what();
    }
  };
  const Pieces mine = pieces_of(field.block.extent, size);
  for (std::uint64_t n = 0; n < mine.count() && failure.empty(); ++n)
    write(in_array(field.block, mine[n]), own.box(mine[n]));
  std::vector<std::byte> buffer;
  const int ranks = rank_count(comm);
  for (int rank = 1; rank < ranks; ++rank) {
    const Block block = receive_block(comm, rank, field.block.global);
    const Pieces pieces = pieces_of(block.extent, size);
    for (std::uint64_t n = 0; n < pieces.count(); ++n) {
      const int ask = failure.empty() ? next : stop;
      check_mpi(MPI_Send(&ask, 1, MPI_INT, rank, 0, comm), "MPI_Send");
      if (ask == stop) break;
      const Box piece = pieces[n];
      buffer.resize(elements(piece.extent) * size);
      check_mpi(MPI_Recv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, rank, 0, comm,
                         MPI_STATUS_IGNORE),
                "MPI_Recv");
      write(in_array(block, piece), buffer.data());
    }
  }
}

void send(MPI_Comm comm, const Field& field, HandOver& own) {
  send_block(comm, field.block);
  const Pieces pieces = pieces_of(field.block.extent, field.values.size());
  for (std::uint64_t n = 0; n < pieces.count(); ++n) {
    int ask = stop;
    check_mpi(MPI_Recv(&ask, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    if (ask == stop) return;
    const Box piece = pieces[n];
    check_mpi(MPI_Send(own.box(piece), static_cast<int>(elements(piece.extent) * field.values.size()),
                       MPI_BYTE, 0, 0, comm),
              "MPI_Send");
  }
}

} // namespace

Share write_gathered(MPI_Comm comm, hid_t file, const Driver& driver, const Field& field) {
  const int rank = my_rank(comm);
  Handle dataset;
  collectively(comm, [&] {
    if (rank == 0)
      dataset = Handle(H5Dopen2(file, field.name.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", field.name);
  });
  HandOver own(field);
  collectively(comm, [&] {
    std::string failure;
    if (rank != 0)
      send(comm, field, own);
    else
      receive_and_write(comm, dataset, driver, field, own, failure);
    own.check();
    if (!failure.empty()) throw Error(failure);
    check(dataset.close(), "H5Dclose", field.name);
  });
  Share share{own.sum(), {}};
  if (rank == 0 && elements(field.block.global) > 0)
    share.written.push_back({Extents(field.block.global.size(), 0), field.block.global});
  return share;
}

} // namespace kontor::output

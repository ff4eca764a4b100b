// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "pieces.hpp"
#include "transfer.hpp"

namespace kontor::output {

namespace {

// Rank 0 asks for every piece, so that no more than one is on its way, and can call the rest off.
enum Ask : int { stop, next };

void receive_and_write(MPI_Comm comm, hid_t dataset, const Driver& driver, const Field& field,
                       const std::vector<Part>& parts, std::string& failure) {
  const std::size_t size = H5Tget_size(field.type);
  std::vector<std::byte> buffer;
  const auto write = [&](const Piece& piece, const std::byte* data) {
    try {
      write_piece(dataset, field.name, piece, field.type, data);
      driver.check();
    } catch (const Error& error) {
      failure = error.what();
    }
  };
  for (const Piece& piece : pieces(field.block, field.type))
    if (failure.empty()) write(piece, static_cast<const std::byte*>(field.data) + piece.first * size);
  for (int rank = 1; rank < static_cast<int>(parts.size()); ++rank)
    for (const Piece& piece : pieces(parts[rank].block(), field.type)) {
      const int ask = failure.empty() ? next : stop;
      check_mpi(MPI_Send(&ask, 1, MPI_INT, rank, 0, comm), "MPI_Send");
      if (ask == stop) break;
      buffer.resize(piece.elements * size);
      check_mpi(MPI_Recv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, rank, 0, comm,
                         MPI_STATUS_IGNORE),
                "MPI_Recv");
      write(piece, buffer.data());
    }
}

void send(MPI_Comm comm, const Field& field) {
  const std::size_t size = H5Tget_size(field.type);
  for (const Piece& piece : pieces(field.block, field.type)) {
    int ask = stop;
    check_mpi(MPI_Recv(&ask, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    if (ask == stop) return;
    check_mpi(MPI_Send(static_cast<const std::byte*>(field.data) + piece.first * size,
                       static_cast<int>(piece.elements * size), MPI_BYTE, 0, 0, comm),
              "MPI_Send");
  }
}

} // namespace

void write_gathered(MPI_Comm comm, hid_t file, const Driver& driver, const Field& field,
                    const std::vector<Part>& parts) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Handle dataset;
  collectively(comm, [&] {
    if (rank == 0)
      dataset = Handle(H5Dopen2(file, field.name.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", field.name);
  });
  collectively(comm, [&] {
    if (rank != 0) return send(comm, field);
    std::string failure;
    receive_and_write(comm, dataset, driver, field, parts, failure);
    if (!failure.empty()) throw Error(failure);
    check(dataset.close(), "H5Dclose", field.name);
  });
}

} // namespace kontor::output

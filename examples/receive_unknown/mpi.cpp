// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rank 0 receives a table from every other rank, whoever comes first, without knowing its extents.
#include "../plain.hpp"
#include "table.hpp"

#include <array>

bool run(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank > 0) {
    const Table table = table_of(rank);
    const std::array extents{static_cast<int>(table.extent(0)), static_cast<int>(table.extent(1))};
    MPI_Send(extents.data(), 2, MPI_INT, 0, 0, comm);
    MPI_Send(table.data(), extents[0] * extents[1], MPI_DOUBLE, 0, 0, comm);
    return true;
  }
  bool right = true;
  std::size_t total = 0;
  for (int i = 1; i < size; ++i) {
    std::array<int, 2> extents;
    MPI_Status status;
    MPI_Recv(extents.data(), 2, MPI_INT, MPI_ANY_SOURCE, 0, comm, &status);
    const Table table("table", extents[0], extents[1]);
    MPI_Recv(table.data(), extents[0] * extents[1], MPI_DOUBLE, status.MPI_SOURCE, 0, comm, MPI_STATUS_IGNORE);
    const Rows rows("rows", extents[0], extents[1]);
    Kokkos::deep_copy(rows, table);
    right = right && is_right(rows);
    total += rows.size();
  }
  std::printf("receive_unknown: %zu numbers from %d ranks, %s\n", total, size - 1, right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return plain(argc, argv, run); }

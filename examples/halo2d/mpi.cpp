// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The halo of a block in a periodic process grid: declared once, then exchanged in every step.
#include "../plain.hpp"
#include "wave.hpp"

bool run(MPI_Comm world) {
  int size;
  MPI_Comm_size(world, &size);
  Wave wave{};
  MPI_Dims_create(size, 2, wave.grid.data());
  const std::array periodic{1, 1};
  MPI_Comm grid;
  MPI_Cart_create(world, 2, wave.grid.data(), periodic.data(), 0, &grid);
  int rank, up, down, left, right;
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, wave.place.data());
  MPI_Cart_shift(grid, 0, 1, &up, &down);
  MPI_Cart_shift(grid, 1, 1, &left, &right);

  const Field u("u", cells + 2, cells + 2);
  const Field next("next", cells + 2, cells + 2);
  MPI_Datatype column;
  MPI_Type_vector(cells, 1, cells + 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);

  std::array<MPI_Request, 8> halo;
  MPI_Recv_init(&u(cells + 1, 1), cells, MPI_DOUBLE, down, 0, grid, &halo[0]);
  MPI_Recv_init(&u(0, 1), cells, MPI_DOUBLE, up, 1, grid, &halo[1]);
  MPI_Recv_init(&u(1, cells + 1), 1, column, right, 2, grid, &halo[2]);
  MPI_Recv_init(&u(1, 0), 1, column, left, 3, grid, &halo[3]);
  MPI_Send_init(&u(1, 1), cells, MPI_DOUBLE, up, 0, grid, &halo[4]);
  MPI_Send_init(&u(cells, 1), cells, MPI_DOUBLE, down, 1, grid, &halo[5]);
  MPI_Send_init(&u(1, 1), 1, column, left, 2, grid, &halo[6]);
  MPI_Send_init(&u(1, cells), 1, column, right, 3, grid, &halo[7]);

  begin(wave, u);
  for (int step = 0; step < steps; ++step) {
    MPI_Startall(static_cast<int>(halo.size()), halo.data());
    MPI_Waitall(static_cast<int>(halo.size()), halo.data(), MPI_STATUSES_IGNORE);
    average(u, next);
  }

  auto [checksum, error] = sums(wave, u);
  MPI_Allreduce(MPI_IN_PLACE, &checksum, 1, MPI_DOUBLE, MPI_SUM, grid);
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, grid);
  const bool good = error < 1e-10;
  if (rank == 0)
    std::printf("halo2d: %d x %d blocks, checksum %.9f, %s\n", wave.grid[0], wave.grid[1], checksum,
                good ? "right" : "wrong");

  for (auto& request : halo) MPI_Request_free(&request);
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  return good;
}

int main(int argc, char** argv) { return plain(argc, argv, run); }

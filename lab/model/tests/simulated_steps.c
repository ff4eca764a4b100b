/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the model of kontor predict is checked by on simulated ranks: steps of a halo on a ring of ranks, computation of so many
 * seconds meanwhile, and a sum over all ranks. Prints the seconds of a step. usage: BYTES SECONDS */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { steps = 20, most = 1 << 20 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = argc > 1 ? atoi(argv[1]) : 8;
  const double seconds = argc > 2 ? atof(argv[2]) : 0;
  char *in = calloc(2, most), *out = calloc(2, most);
  double begin = 0, sum;
  for (int step = -2; step < steps; ++step) {
    if (step == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      begin = MPI_Wtime();
    }
    MPI_Request requests[4];
    const int to[2] = {(rank + 1) % size, (rank + size - 1) % size};
    for (int i = 0; i < 2; ++i) MPI_Irecv(in + i * most, bytes, MPI_CHAR, to[1 - i], i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 2; ++i) MPI_Isend(out + i * most, bytes, MPI_CHAR, to[i], i, MPI_COMM_WORLD, &requests[2 + i]);
    if (seconds > 0) smpi_execute(seconds);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    double mine = rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%.9e\n", (MPI_Wtime() - begin) / steps);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All pairs on a ring: copies of each rank's particles visit every other rank, and are home again at the end.
#include "../plain.hpp"
#include "particles.hpp"

#include <utility>

bool run(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;

  const Particles places = particles_of(rank);
  const Particles pull("pull", places.size());
  Particles visitors = particles_of(rank);
  Particles arriving("arriving", places.size());
  for (int step = 0; step < size; ++step) {
    add_pull(visitors, places, pull);
    MPI_Sendrecv(visitors.data(), static_cast<int>(visitors.size()), MPI_DOUBLE, next, 0, arriving.data(),
                 static_cast<int>(arriving.size()), MPI_DOUBLE, previous, 0, comm, MPI_STATUS_IGNORE);
    std::swap(visitors, arriving);
  }

  int right = is_right(places, pull, size);
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, comm);
  if (rank == 0) std::printf("ring: %d particles, %s\n", size * particles_per_rank, right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return plain(argc, argv, run); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rank gets what all ranks have found, and learns where each rank's part lies.
#include "../plain.hpp"
#include "primes.hpp"

#include <numeric>
#include <vector>

bool run(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);

  const Numbers own = primes_of(rank, size);
  const int count = static_cast<int>(own.size());
  std::vector<int> counts(size), offsets(size + 1, 0);
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  const Numbers primes("primes", offsets.back());
  MPI_Allgatherv(own.data(), count, MPI_INT, primes.data(), counts.data(), offsets.data(), MPI_INT, comm);

  int right = is_right(primes);
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, comm);
  if (rank == 0) {
    for (int r = 0; r < size; ++r) std::printf("allgather_varying: rank %d found %d primes\n", r, counts[r]);
    std::printf("allgather_varying: %d in all, %s\n", offsets.back(), right ? "right" : "wrong");
  }
  return right;
}

int main(int argc, char** argv) { return plain(argc, argv, run); }

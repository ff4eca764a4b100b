// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mean, deviation, least value and its place of all ranks' values, in one reduction of a struct.
#include "../plain.hpp"
#include "statistics.hpp"

void merge(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* a = static_cast<const Statistics*>(in);
  auto* b = static_cast<Statistics*>(inout);
  for (int i = 0; i < *count; ++i) b[i] = merged(a[i], b[i]);
}

bool run(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);

  MPI_Datatype statistics;
  MPI_Type_contiguous(sizeof(Statistics) / sizeof(double), MPI_DOUBLE, &statistics);
  MPI_Type_commit(&statistics);
  MPI_Op merge_statistics;
  MPI_Op_create(merge, 1, &merge_statistics);
  Statistics all = statistics_of(rank);
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, statistics, merge_statistics, comm);
  MPI_Op_free(&merge_statistics);
  MPI_Type_free(&statistics);

  int right = is_right(all, size);
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, comm);
  if (rank == 0)
    std::printf("struct_reduction: mean %.6f, deviation %.6f, least %g at %g, %s\n", all.mean,
                std::sqrt(all.squares / all.count), all.least, all.where, right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return plain(argc, argv, run); }

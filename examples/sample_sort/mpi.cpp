// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts the numbers of all ranks: samples say which numbers belong to which rank, and an all-to-all brings them there,
// however many they are.
#include "../plain.hpp"
#include "numbers.hpp"

#include <numeric>

std::vector<int> offsets_of(const std::vector<int>& counts) {
  std::vector<int> offsets(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  return offsets;
}

bool run(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);

  const Numbers own = numbers_of(rank);
  const Numbers samples("all samples", 16 * size);
  MPI_Allgather(samples_of(own, 16).data(), 16, MPI_INT64_T, samples.data(), 16, MPI_INT64_T, comm);

  const auto send_counts = counts_of(own, samples, size);
  const auto to = offsets_of(send_counts);
  std::vector<int> receive_counts(size);
  MPI_Alltoall(send_counts.data(), 1, MPI_INT, receive_counts.data(), 1, MPI_INT, comm);
  const auto from = offsets_of(receive_counts);
  const Numbers sorted("sorted", from.back());
  MPI_Alltoallv(own.data(), send_counts.data(), to.data(), MPI_INT64_T, sorted.data(), receive_counts.data(),
                from.data(), MPI_INT64_T, comm);
  sort(sorted);

  const int count = static_cast<int>(sorted.size());
  std::vector<int> counts(size);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  const auto parts = offsets_of(counts);
  const Numbers all("all", rank == 0 ? parts.back() : 0);
  MPI_Gatherv(sorted.data(), count, MPI_INT64_T, all.data(), counts.data(), parts.data(), MPI_INT64_T, 0, comm);
  if (rank > 0) return true;
  for (int r = 0; r < size; ++r) std::printf("sample_sort: rank %d has %d numbers\n", r, counts[r]);
  const bool right = is_right(all, size);
  std::printf("sample_sort: %d in all, %s\n", parts.back(), right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return plain(argc, argv, run); }

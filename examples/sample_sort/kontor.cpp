// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts the numbers of all ranks: samples say which numbers belong to which rank, and an all-to-all brings them there,
// however many they are.
#include "../guarded.hpp"
#include "numbers.hpp"

using namespace kontor::comm;

bool run(const Communicator& comm) {
  const Numbers own = numbers_of(comm.rank());
  const Numbers samples("all samples", 16 * comm.size());
  allgather(comm, samples_of(own, 16), samples);

  const auto [sorted, from] = alltoallv_with_counts(comm, own, counts_of(own, samples, comm.size()));
  sort(sorted);

  const auto [all, parts] = gatherv_with_counts(comm, sorted, 0);
  if (comm.rank() > 0) return true;
  for (int r = 0; r < comm.size(); ++r)
    std::printf("sample_sort: rank %d has %d numbers\n", r, static_cast<int>(parts[r + 1] - parts[r]));
  const bool right = is_right(all, comm.size());
  std::printf("sample_sort: %d in all, %s\n", static_cast<int>(all.size()), right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return guarded(argc, argv, run); }

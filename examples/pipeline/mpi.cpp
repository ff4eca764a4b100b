// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rank is a stage of a pipeline: it works on whichever block has come, and passes it on while the others arrive.
#include "../plain.hpp"
#include "stage.hpp"

#include <vector>

bool run(MPI_Comm comm) {
  int stage, stages;
  MPI_Comm_rank(comm, &stage);
  MPI_Comm_size(comm, &stages);
  const int before = stage > 0 ? stage - 1 : MPI_PROC_NULL;
  const int after = stage + 1 < stages ? stage + 1 : MPI_PROC_NULL;

  std::vector<Block> block; // must outlive the requests
  std::vector<MPI_Request> arriving(blocks), leaving(blocks);
  for (int number = 0; number < blocks; ++number) { // the first stage's are there already
    block.push_back(new_block(number));
    MPI_Irecv(block[number].data(), block_size, MPI_INT64_T, before, number, comm, &arriving[number]);
  }

  std::int64_t sum = 0;
  int number;
  MPI_Waitany(blocks, arriving.data(), &number, MPI_STATUS_IGNORE);
  while (number != MPI_UNDEFINED) {
    work(stage, block[number]);
    sum += checksum(block[number]);
    MPI_Isend(block[number].data(), block_size, MPI_INT64_T, after, number, comm, &leaving[number]);
    MPI_Waitany(blocks, arriving.data(), &number, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(blocks, leaving.data(), MPI_STATUSES_IGNORE);

  std::int64_t result = after == MPI_PROC_NULL ? sum : 0;
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT64_T, MPI_SUM, comm);
  const bool right = result == expected(stages);
  if (stage == 0)
    std::printf("pipeline: %d stages, checksum %lld, %s\n", stages, static_cast<long long>(result),
                right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return plain(argc, argv, run); }

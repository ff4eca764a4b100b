// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rank is a stage of a pipeline: it works on whichever block has come, and passes it on while the others arrive.
#include "../guarded.hpp"
#include "stage.hpp"

#include <vector>

using namespace kontor::comm;

bool run(const Communicator& comm) {
  const int stage = comm.rank();
  const int before = stage > 0 ? stage - 1 : no_rank;
  const int after = stage + 1 < comm.size() ? stage + 1 : no_rank;

  std::vector<Request<Block>> arriving, leaving;
  for (int number = 0; number < blocks; ++number) // the first stage's are there already
    arriving.push_back(irecv(comm, new_block(number), before, number));

  std::int64_t sum = 0;
  while (const auto number = wait_any(arriving)) {
    const Block block = arriving[*number].wait();
    work(stage, block);
    sum += checksum(block);
    leaving.push_back(isend(comm, block, after, static_cast<int>(*number)));
  }
  wait_all(leaving);

  const auto result = allreduce(comm, after == no_rank ? sum : std::int64_t{0}, ReduceOp::sum);
  const bool right = result == expected(comm.size());
  if (comm.rank() == 0)
    std::printf("pipeline: %d stages, checksum %lld, %s\n", comm.size(), static_cast<long long>(result),
                right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return guarded(argc, argv, run); }

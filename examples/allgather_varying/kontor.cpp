// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rank gets what all ranks have found, and learns where each rank's part lies.
#include "../guarded.hpp"
#include "primes.hpp"

using namespace kontor::comm;

bool run(const Communicator& comm) {
  const auto [primes, offsets] = allgatherv_with_counts(comm, primes_of(comm.rank(), comm.size()));

  const bool right = allreduce(comm, is_right(primes), ReduceOp::logical_and);
  if (comm.rank() == 0) {
    for (int r = 0; r < comm.size(); ++r)
      std::printf("allgather_varying: rank %d found %d primes\n", r, static_cast<int>(offsets[r + 1] - offsets[r]));
    std::printf("allgather_varying: %d in all, %s\n", static_cast<int>(primes.size()), right ? "right" : "wrong");
  }
  return right;
}

int main(int argc, char** argv) { return guarded(argc, argv, run); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mean, deviation, least value and its place of all ranks' values, in one reduction of a struct.
#include "../guarded.hpp"
#include "statistics.hpp"

using namespace kontor::comm;

bool run(const Communicator& comm) {
  const auto merge = commutative([](const Statistics& a, const Statistics& b) { return merged(a, b); });
  const Statistics all = allreduce(comm, statistics_of(comm.rank()), merge);

  const bool right = allreduce(comm, is_right(all, comm.size()), ReduceOp::logical_and);
  if (comm.rank() == 0)
    std::printf("struct_reduction: mean %.6f, deviation %.6f, least %g at %g, %s\n", all.mean,
                std::sqrt(all.squares / all.count), all.least, all.where, right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return guarded(argc, argv, run); }

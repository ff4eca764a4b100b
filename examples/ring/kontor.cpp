// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All pairs on a ring: copies of each rank's particles visit every other rank, and are home again at the end.
#include "../guarded.hpp"
#include "particles.hpp"

#include <utility>

using namespace kontor::comm;

bool run(const Communicator& comm) {
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();

  const Particles places = particles_of(comm.rank());
  const Particles pull("pull", places.size());
  Particles visitors = particles_of(comm.rank());
  Particles arriving("arriving", places.size());
  for (int step = 0; step < comm.size(); ++step) {
    add_pull(visitors, places, pull);
    sendrecv(comm, visitors, next, arriving, previous);
    std::swap(visitors, arriving);
  }

  const bool right = allreduce(comm, is_right(places, pull, comm.size()), ReduceOp::logical_and);
  if (comm.rank() == 0)
    std::printf("ring: %d particles, %s\n", comm.size() * particles_per_rank, right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return guarded(argc, argv, run); }

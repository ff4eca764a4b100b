// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All steps by one kernel of each rank: it writes the ends of its rod into the memory of its neighbours, and waits
// there for theirs. No rank's host takes part.
#include "../guarded.hpp"
#include "rod.hpp"

#include <kontor/comm/peer_memory.hpp>

namespace comm = kontor::comm;
namespace device = kontor::device;

/// What comes from a neighbour: values of even and of odd steps, and the number of the last one.
struct Post {
  alignas(64) device::Counter written;
  double value[2];
};

bool run(const comm::Communicator& world) {
  const comm::Communicator ring(world.native(), {.backend = on_host ? "shm" : "ipc"});
  const comm::PeerMemory<Rod::memory_space> memory(ring, 2 * sizeof(Post), "posts");
  const auto posts = [&](int rank) { return reinterpret_cast<Post*>(memory.of(rank)); };
  const int left = (ring.rank() + ring.size() - 1) % ring.size(), right = (ring.rank() + 1) % ring.size();
  Post *const mine = posts(ring.rank()), *const to_left = posts(left) + 1, *const to_right = posts(right);
  const auto wait = memory.wait();

  const Rod u("u", cells + 2);
  begin(u);
  Kokkos::parallel_for(
      "all steps", one_team(), KOKKOS_LAMBDA(const Team& team) {
        for (int step = 1; step <= steps; ++step) {
          const int from = (step - 1) % 2;
          const auto number = static_cast<device::Counter>(step);
          if (team.team_rank() == 0) {
            to_left->value[from] = u(1, from);
            device::store_release(to_left->written, number);
            to_right->value[from] = u(cells, from);
            device::store_release(to_right->written, number);
            if (!wait.until(mine[0].written, number, left) || !wait.until(mine[1].written, number, right)) return;
            u(0, from) = mine[0].value[from];
            u(cells + 1, from) = mine[1].value[from];
          }
          team.team_barrier();
          average(team, u, step);
        }
      });
  Kokkos::fence();
  memory.check();

  const auto [squares, error] = sums(u);
  const double checksum = comm::allreduce(ring, squares, comm::ReduceOp::sum);
  const bool right_result = comm::allreduce(ring, error, comm::ReduceOp::max) < 1e-10;
  if (ring.rank() == 0)
    std::printf("persistent_halo: %d rods, checksum %.9f, %s\n", ring.size(), checksum,
                right_result ? "right" : "wrong");
  return right_result;
}

int main(int argc, char** argv) { return guarded(argc, argv, run); }

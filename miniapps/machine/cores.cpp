// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/cores.hpp"

#include "machine/node.hpp"

#include <kontor/comm/collectives/reductions.hpp>
#include <kontor/comm/kokkos/compat.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <sched.h>

namespace kontor::miniapp {
namespace {

/// A bit for each core; all 0 if this is not known.
using Cores = std::array<std::uint64_t, CPU_SETSIZE / 64>;

/// Local. Those that this process may run on.
Cores cores_of_process() {
  Cores cores{};
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cores[i / 64] |= std::uint64_t{1} << i % 64;
  return cores;
}

int count(const Cores& cores) {
  int sum = 0;
  for (const auto word : cores) sum += std::popcount(word);
  return sum;
}

} // namespace

bool cores_are_oversubscribed(const comm::Communicator& comm) {
  if constexpr (!comm::on_host<Kokkos::DefaultExecutionSpace>) return false;
  const auto node = node_communicator(comm);
  const int cores = count(comm::allreduce(node, cores_of_process(), comm::ReduceOp::bitwise_or));
  const int threads =
      comm::allreduce(node, Kokkos::DefaultExecutionSpace().concurrency(), comm::ReduceOp::sum);
  return comm::allreduce(comm, cores > 0 && threads > cores ? 1 : 0, comm::ReduceOp::max) > 0;
}

} // namespace kontor::miniapp

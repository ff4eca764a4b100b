// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/agree.hpp"
#include "base/deadline.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/peer_memory.hpp>

#include <fmt/format.h>

namespace kontor::comm::detail {

std::optional<std::string> peer_refusal(const Communicator& comm, bool host_memory) {
  const auto& can = comm.capabilities();
  if (!can.peer_memory)
    return fmt::format("backend '{}' does not map the memory of other ranks; ipc does for GPUs, shm for hosts",
                       comm.options().backend);
  if (host_memory ? can.host_buffers : can.device_buffers) return std::nullopt;
  return fmt::format("backend '{}' maps no memory of a {}", comm.options().backend, host_memory ? "host" : "device");
}

std::unique_ptr<PeerAllocation> allocate_for_peers(const Communicator& comm, std::size_t bytes, bool host_memory) {
  if (const auto refused = mpi::first_problem(comm.native(), peer_refusal(comm, host_memory)))
    throw UsageError(*refused, Axis::backend);
  return internals(comm).backend().peer_memory(bytes);
}

void free_for_peers(const Communicator& comm, std::unique_ptr<PeerAllocation> memory) {
  if (internals(comm).ends_together()) Kokkos::fence();
  memory.reset();
}

void check_late(const Communicator& comm, const PeerAllocation& memory) {
  const auto late = device::load_relaxed(memory.signals()->late);
  if (late == 0) return;
  internals(comm).leak_at_end();
  throw Error(
      fmt::format("a kernel of rank {} has waited {} s for rank {}", comm.rank(), comm.options().timeout, late - 1),
      "E-COMM-TIMEOUT");
}

std::uint64_t peer_timeout(const Communicator& comm) {
  return static_cast<std::uint64_t>(mpi::timeout(comm.options()) * 1e9);
}

} // namespace kontor::comm::detail

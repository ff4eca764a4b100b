// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Which GPU each rank has.
namespace kontor::miniapp {

/// Collective, before Kokkos is initialised. The argument by which Kokkos takes the rank's own GPU: the one
/// with the rank's number on its node, going round where there are fewer. Empty without GPUs, and where the
/// user has chosen by an argument or variable of Kokkos.
std::string device_argument(MPI_Comm, std::span<const char* const> kokkos_arguments);

/// The GPU that a rank computes on.
struct Device {
  int rank = 0;
  std::string host;
  std::string name;
  std::string uuid;
  std::int64_t memory = 0; ///< bytes there are
};

/// Collective; valid at rank 0, empty elsewhere. Those of all ranks, in their order; empty if kernels run on
/// the host.
std::vector<Device> devices_of(const comm::Communicator&);

/// Collective; valid on every rank. How many ranks of this one's node compute on its GPU; 1 on a host, and
/// where GPUs have no names.
int ranks_of_device(const comm::Communicator&);

/// Local. What to say of ranks that share a GPU, a line each; empty if none do.
std::string shared_devices(std::span<const Device>);

} // namespace kontor::miniapp

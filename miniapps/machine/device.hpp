// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <nlohmann/json.hpp>

#include <span>
#include <string>

/// Which GPU each rank has.
namespace kontor::miniapp {

/// Collective, before Kokkos is initialised. The argument by which Kokkos takes the rank's own GPU: the one with the
/// rank's number on its node, going round where there are fewer. Kokkos itself reads that number from variables that
/// not all launchers set. Empty without GPUs, and where the user has chosen by an argument or variable of Kokkos.
std::string device_argument(MPI_Comm, std::span<const char* const> kokkos_arguments);

/// Collective; valid at rank 0, empty elsewhere. The table /run/devices of the GPUs of all ranks, in their order; null
/// if kernels run on the host.
nlohmann::ordered_json devices_of(const comm::Communicator&);

/// Collective. The ranks whose Views lie in the same memory as this one's, with backend `raw`: those of its node, or of
/// its GPU where kernels run on one; this rank alone where GPUs have no names.
comm::Communicator ranks_of_memory(const comm::Communicator&);

/// Local. What to say of ranks of such a table that share a GPU, a line each; empty if none do.
std::string shared_devices(const nlohmann::ordered_json& devices);

} // namespace kontor::miniapp

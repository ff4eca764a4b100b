// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <string>

/// Which ranks are on one node: those that can share memory.
namespace kontor::miniapp {

/// Collective. The ranks of this one's node, in their order, with backend `raw`.
comm::Communicator node_communicator(const comm::Communicator&);

/// Local. What MPI calls the node of this rank.
std::string host_name();

} // namespace kontor::miniapp

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange.hpp>
#include <kontor/config/location.hpp>
#include <kontor/errors/id.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>

/// What rules a kind of launch out.
namespace kontor::stepping {

/// Local, equal on all ranks. Why steps with this exchange cannot be replayed; nothing if they can.
std::optional<std::string> graph_refusal(const comm::Communicator&, const comm::ExchangeBase&);

/// Collective. Whether a profiling tool listens on any rank: it would see the kernels of a graph once, when it is
/// captured.
bool tool_listens(const comm::Communicator&);

/// Collective. Whether ranks share a device, on which teams of kernels that wait for each other might never begin.
bool ranks_share_device(const comm::Communicator&);

/// Collective. capture(), whose exceptions become an AgreedError on all ranks.
template <class Capture>
void capture_on_all(const comm::Communicator& comm, const config::Location& key, const Capture& capture) {
  std::optional<std::string> problem;
  try {
    capture();
  } catch (const std::exception& error) {
    problem = errors::with_id(
        fmt::format("capturing steps as a graph: {} ({}: per_kernel does without)", error.what(), key.key),
        "E-GPU-CALL");
  }
  comm.agree(problem);
}

} // namespace kontor::stepping

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange.hpp>
#include <kontor/comm/exchange/trial.hpp>
#include <kontor/config/location.hpp>
#include <kontor/config/visitor.hpp>
#include <kontor/errors/id.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

/// Whether repeated steps are made by graphs: as the deck says, or by trial.
namespace kontor::stepping {

/// How many steps a launch makes on a device: each its own kernels, many steps a graph, or a kernel that stays for
/// many.
enum class Launch { automatic, each, graph, persistent };

/// The words of decks, and what they say.
inline constexpr std::array<config::Named<Launch>, 3> launch_names{
    {{"auto", Launch::automatic}, {"each", Launch::each}, {"graph", Launch::graph}}};
inline constexpr std::array<config::Named<Launch>, 4> all_launch_names{{{"auto", Launch::automatic},
                                                                        {"each", Launch::each},
                                                                        {"graph", Launch::graph},
                                                                        {"persistent", Launch::persistent}}};

/// Why steps with this exchange cannot be replayed; nothing if they can. Equal on all ranks. Local.
inline std::optional<std::string> graph_refusal(const comm::Communicator& comm, const comm::ExchangeBase& exchange) {
  if (comm.size() == 1 && exchange.sent().empty()) return std::nullopt; // no messages
  if (!exchange.stream_ordered())
    return fmt::format("the host takes part in each message by backend '{}'", exchange.chosen().backend);
  if (exchange.chosen().check == comm::CheckLevel::cross_rank)
    return std::string("with comm.check cross_rank the host compares the ranks in each step");
  return std::nullopt;
}

/// Collective. Whether to capture a graph, given what is in the way, equal on all ranks. Throws config::Error on all
/// ranks if the deck wants one all the same. A choice left open is no where a tool listens on any rank: it would see
/// the kernels of a graph once, when it is captured.
bool wants_graph(const comm::Communicator&, const config::Chosen<Launch>&, const std::optional<std::string>& refusal);

/// Collective. capture(), whose exceptions become an AgreedError on all ranks.
template <class Capture>
void capture_on_all(const comm::Communicator& comm, const config::Location& key, const Capture& capture) {
  std::optional<std::string> problem;
  try {
    capture();
  } catch (const std::exception& error) {
    problem = errors::with_id(
        fmt::format("capturing steps as a graph: {} ({}: each does without)", error.what(), key.key), "E-GPU-CALL");
  }
  comm.agree(problem);
}

} // namespace kontor::stepping

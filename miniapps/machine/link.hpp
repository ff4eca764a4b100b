// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <optional>
#include <span>

/// What a message costs between two ranks while the others look on.
namespace kontor::miniapp {

/// Two ranks that send to each other.
struct Partners {
  int first = 0;
  int second = 0;
  friend bool operator==(const Partners&, const Partners&) = default;
};

/// Whose messages stand for all: two ranks of one node, and of two nodes, where there are any.
struct LinkPartners {
  std::optional<Partners> of_one_node;
  std::optional<Partners> of_two_nodes;
};

/// Local. `nodes` has the node of each rank, as any number. The first rank that shares its node with a later one, and
/// that one; rank 0 and the first rank of another node.
LinkPartners choose_partners(std::span<const int> nodes);

/// Collective; valid on every rank. Those of a communicator.
LinkPartners link_partners(const comm::Communicator&);

/// One way between two ranks.
struct Link {
  double latency = 0;   ///< s, half a round trip of one double, the best of ten means of 20
  double bandwidth = 0; ///< bytes/s, 2 MiB over half a round trip, the best of ten
};

/// Collective; valid on every rank. On hosts by backend `raw`, whatever the communicator's, so that it is the same for
/// all runs on a machine. On devices by the communicator's own, as there are several links between two of them, and a
/// backend takes one: over NVLink, or through the hosts' memory.
Link time_link(const comm::Communicator&, Partners);

} // namespace kontor::miniapp

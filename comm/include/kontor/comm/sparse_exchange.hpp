// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace kontor::comm {

/// What one rank sends to another.
struct PeerMessage {
  int peer;                     ///< the rank at the other end
  std::vector<std::byte> bytes; ///< what is sent
};

/// Collective. Sends each message to its peer and returns those that other ranks send to this one, ordered by
/// peer; at most one from each rank to each other. Nobody needs to know who sends to it, and the work of a
/// rank grows with the number of its peers and with the logarithm of the number of ranks. At check level
/// `cross_rank` throws Error if it takes longer than Options::timeout; `label` names the exchange then.
/// Messages may have any length: they travel in pieces of at most `most_at_once` bytes, 1 to 2^31 - 1.
std::vector<PeerMessage> sparse_exchange(const Communicator&, const std::string& label,
                                         std::vector<PeerMessage>, std::size_t most_at_once = 1U << 30U);

} // namespace kontor::comm

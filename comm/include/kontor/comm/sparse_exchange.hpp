// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kontor::comm {

/// What one rank sends to another.
struct PeerMessage {
  int peer;                     ///< the rank at the other end
  std::vector<std::byte> bytes; ///< what is sent
};

/// Collective. Sends each message, of any length, to its peer and returns those that other ranks send to this one,
/// ordered by peer; at most one from each rank to each other. Cost and timeout as of sparse_alltoall(); `label` names
/// the exchange in errors.
std::vector<PeerMessage> sparse_exchange(const Communicator&, const std::string& label, std::vector<PeerMessage>);

namespace detail {

/// What is sent to a rank; somebody else's memory.
struct SparseMessage {
  int peer;
  const void* data;
  std::size_t bytes;
};

/// Collective. The same from and to memory of the caller's. `place(peer, bytes)` gives the memory for a message. `sent`
/// owns what is sent; errors begin with `what`.
void sparse_exchange(const Communicator&, const std::string& what, const std::vector<SparseMessage>&,
                     const std::shared_ptr<void>& sent, const std::function<void*(int peer, std::size_t bytes)>& place);

} // namespace detail
} // namespace kontor::comm

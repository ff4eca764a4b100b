// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/envelope.hpp>

#include <cstdint>
#include <optional>

/// Looking at a message before it is received.
namespace kontor::comm {

/// A message that has come. `bytes` are those of its elements; of what send_with_extents() sends, those of
/// the description that goes before them.
struct MessageStatus {
  int source;         ///< the rank that sent it
  int tag;            ///< what it was sent with
  std::int64_t bytes; ///< of its elements, or of their description
};

/// Local. Waits for a message from that rank with that tag and says what it is; it remains to be received.
/// MPI_Probe. At check level `cross_rank` the wait ends with an Error at the timeout.
MessageStatus probe(const Communicator&, int source = any_source, int tag = any_tag);

/// Local. The same without waiting: nothing if no such message has come. MPI_Iprobe.
std::optional<MessageStatus> iprobe(const Communicator&, int source = any_source, int tag = any_tag);

} // namespace kontor::comm

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/message_status.hpp>

#include <optional>

/// Looking at a message before it is received.
namespace kontor::comm {

/// Local. Waits for a message from that rank with that tag and says what it is; it remains to be received.
/// MPI_Probe. At check level `cross_rank` the wait ends with an Error at the timeout.
MessageStatus probe(const Communicator&, int source = any_source, int tag = any_tag);

/// Local. The same without waiting: nothing if no such message has come. MPI_Iprobe.
std::optional<MessageStatus> iprobe(const Communicator&, int source = any_source, int tag = any_tag);

} // namespace kontor::comm

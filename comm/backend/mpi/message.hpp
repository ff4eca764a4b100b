// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_context.hpp"

#include <kontor/comm/views/datatype.hpp>

#include <string>
#include <vector>

namespace kontor::comm::mpi {

/// One message, ready to be handed to MPI every step.
struct Message {
  void* data;
  int count;
  MPI_Datatype type;
  int peer;
  int tag;
  int turn;
  std::string label;  ///< of the View
  Datatype made = {}; ///< `type`, where it is the message's own
};

/// The messages of a plan.
struct MessageSet {
  std::string label; ///< of the exchange
  std::vector<Message> sends;
  std::vector<Message> receives;
};

/// Local. A buffer as a message: a contiguous one by pointer and count, another one by a derived datatype.
Message message(const Transfer&);
MessageSet messages(const Schedule&);

/// Throws Error: "exchange 'halo': MPI_Isend to rank 1 of View 'u' failed: ..."; `operation` is "MPI_Isend
/// to".
[[noreturn]] void fail_message(const std::string& exchange, int code, const char* operation, const Message&);

} // namespace kontor::comm::mpi

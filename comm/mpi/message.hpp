// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "datatype.hpp"
#include "handle.hpp"

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
  std::string label; ///< of the View
};

/// The messages of a plan and the datatypes they use.
struct MessageSet {
  std::string label; ///< of the exchange
  std::vector<Message> sends;
  std::vector<Message> receives;
  std::vector<Datatype> datatypes;
};

/// Local. A plan that exchanges the messages by the pattern of the handle.
std::unique_ptr<Plan> make_plan(const MpiHandle&, MessageSet);

} // namespace kontor::comm::mpi

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <span>
#include <string>
#include <vector>

namespace kontor::comm {

/// Both halves of one slot of an exchange: `send` goes to `destination`, `receive` comes from `source`;
/// either may be no_rank. What rank a sends in its slot k arrives in slot k of the destination.
struct Slot {
  Buffer send;               ///< what goes to `destination`
  int destination = no_rank; ///< a rank, or no_rank
  Buffer receive;            ///< where what comes from `source` lands
  int source = no_rank;      ///< a rank, or no_rank
};

/// What both ends of every message have agreed on. Entries of absent halves are empty.
struct Agreement {
  int first_tag = 0;                     ///< slot k travels with tag first_tag + k
  std::vector<WireOrder> send_orders;    ///< of each slot
  std::vector<WireOrder> receive_orders; ///< of each slot
};

/// Local. Throws CallError unless one of the slots sends cells of this View, or receives into some.
void check_use(const std::string& label, std::span<const Slot>, const Buffer& view, bool receives);

/// Collective over the communicator. Compares the two ends of every message: scalar, rank and extents must
/// be equal, and each send must meet a receive. Throws AgreedError on all ranks, naming both ends of the
/// first mismatch (that of the lowest receiving rank).
Agreement handshake(const Communicator&, const std::string& label, std::span<const Slot>);

} // namespace kontor::comm

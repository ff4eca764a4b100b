// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/views/layout.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kontor::comm {

/// How the two ends of a message are matched.
enum class Matching {
  by_slot, ///< what rank a sends in its slot k arrives in slot k of the destination
  by_pair  ///< the i-th that rank a sends to rank b so is the i-th that b receives from a so
};

/// What becomes of the elements of a View that receives.
enum class ReceiveOp {
  replace, ///< they are what arrives
  add      ///< what arrives is added to them
};

/// What one call adds to an exchange: `send` goes to `destination`, `receive` comes from `source`; either may be
/// no_rank.
struct Slot {
  Buffer send;                           ///< what goes to `destination`
  int destination = no_rank;             ///< a rank, or no_rank
  Buffer receive;                        ///< where what comes from `source` lands
  int source = no_rank;                  ///< a rank, or no_rank
  Matching matching = Matching::by_slot; ///< what is matched by slot is numbered apart
  ReceiveOp op = ReceiveOp::replace;     ///< of `receive`
};

/// A message that a rank sends in a step.
struct SentMessage {
  int peer;           ///< the rank that receives it
  std::int64_t bytes; ///< of all Views in it
};

/// What the two ends of a message have agreed on; empty where there is none.
struct AgreedMessage {
  WireOrder order;     ///< in which its elements travel
  int tag = 0;         ///< as in Transfer
  int turn = 0;        ///< as in Transfer
  bool packed = false; ///< one end at least does not lie in that order, or adds
};

/// What both ends of every message have agreed on.
struct Agreement {
  std::vector<AgreedMessage> sends;    ///< of each slot
  std::vector<AgreedMessage> receives; ///< of each slot
};

/// Collective over the communicator. Compares the two ends of every message: scalar, rank and extents must be equal,
/// and each send must meet a receive. Throws AgreedError on all ranks, naming both ends of the first mismatch (that of
/// the lowest receiving rank), or two ranks whose Views lie in different kinds of memory.
Agreement handshake(const Communicator&, const std::string& label, std::span<const Slot>,
                    MemoryKind = MemoryKind::host);

} // namespace kontor::comm

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange/handshake.hpp>

namespace kontor::comm {

/// One end of a slot.
struct SlotEnd {
  const Slot* slot;
  const Buffer* buffer;
  int peer;
  bool receives;
  bool adds;
  bool by_pair;
  int number; ///< in the order of adding, from 0: of those matched by slot, or by pair with that peer
};

/// Local. Those that take part.
std::vector<SlotEnd> ends_of(std::span<const Slot>);

/// Local. What can be seen wrong with this rank's slots without asking anybody: peers that are no ranks, rows that are
/// not there and, from check level `local` on, Views that share memory.
std::optional<std::string> slot_problem(const Communicator&, const std::string& label, std::span<const Slot>);

/// Local. A View of these slots that receives what another one sends or receives in the same step, in words.
std::optional<std::string> overlap_problem(std::span<const Slot>);

} // namespace kontor::comm

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/mini_app.hpp"
#include "run/options.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/exchange.hpp>

#include <algorithm>
#include <string>
#include <vector>

/// What a record says of an exchange.
namespace kontor::miniapp {

/// Collective, so for the constructor of an app: its record() is local. What the deck's packing came to, over
/// all ranks.
template <class View>
std::string packing_used(const comm::Communicator& comm, const comm::Exchange<View>& exchange) {
  const int packs = exchange.packing() == comm::Packing::none ? 0 : 1;
  if (comm::allreduce(comm, packs, comm::ReduceOp::max) == 0) return "none";
  return std::string(comm::to_string(exchange.chosen().packing));
}

/// Local. What `rank`, this one, sends in a step.
template <class View>
std::vector<Traffic> traffic_of(int rank, const comm::Exchange<View>& exchange) {
  std::vector<Traffic> table;
  for (const auto& slot : exchange.slots()) {
    if (slot.destination == comm::no_rank) continue;
    const auto same = [&](const Traffic& t) { return t.neighbour == slot.destination; };
    auto entry = std::find_if(table.begin(), table.end(), same);
    if (entry == table.end()) entry = table.insert(entry, {rank, slot.destination, 0, 0});
    ++entry->messages;
    entry->bytes += comm::element_count(slot.send.shape) *
                    static_cast<std::int64_t>(sizeof(typename View::non_const_value_type));
  }
  return table;
}

} // namespace kontor::miniapp

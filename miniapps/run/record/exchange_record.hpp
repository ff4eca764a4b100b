// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/mini_app.hpp"
#include "run/options.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/exchange.hpp>

/// What a record says of an exchange.
namespace kontor::miniapp {

/// Collective, so for the constructor of an app: its record() is local. What the deck's packing came to, over all
/// ranks.
inline std::string packing_used(const comm::Communicator& comm, const comm::ExchangeBase& exchange) {
  const int packs = exchange.packing() == comm::Packing::none ? 0 : 1;
  if (comm::allreduce(comm, packs, comm::ReduceOp::max) == 0) return "none";
  return std::string(comm::to_string(exchange.chosen().packing));
}

/// Local. What `rank`, this one, sends in a step.
inline std::vector<Traffic> traffic_of(int rank, const comm::ExchangeBase& exchange) {
  std::vector<Traffic> table;
  for (const auto& [peer, bytes] : exchange.sent()) {
    const auto same = [&, p = peer](const Traffic& t) { return t.neighbour == p; };
    auto entry = std::find_if(table.begin(), table.end(), same);
    if (entry == table.end()) entry = table.insert(entry, {rank, peer, 0, 0});
    ++entry->messages;
    entry->bytes += bytes;
  }
  return table;
}

/// Collective, so for the constructor of an app. Adds the exchange of a step to what this rank records.
inline void record_exchange(AppRecord& record, const comm::Communicator& comm, const comm::ExchangeBase& exchange) {
  record.exchange = {exchange.chosen(), exchange.timed_methods(), packing_used(comm, exchange)};
  record.traffic = traffic_of(comm.rank(), exchange);
}

} // namespace kontor::miniapp

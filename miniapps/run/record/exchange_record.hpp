// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange.hpp>

#include <nlohmann/json.hpp>

/// What a record says of an exchange; members of /run.
namespace kontor::miniapp {

/// Collective, so for the constructor of an app: its record() is local. How data travel and what `auto` has tried.
nlohmann::ordered_json method_of(const comm::Communicator&, const comm::ExchangeBase&);

/// Local. What `rank`, this one, sends in a step.
nlohmann::ordered_json traffic_of(int rank, const comm::ExchangeBase&);

/// Collective, so for the constructor of an app. Both, of the exchange of a step.
nlohmann::ordered_json record_of(const comm::Communicator&, const comm::ExchangeBase&);

} // namespace kontor::miniapp

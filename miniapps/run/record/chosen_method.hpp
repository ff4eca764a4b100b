// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/exchange_record.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange.hpp>

#include <optional>

namespace kontor::miniapp {

/// The communicator of an app's exchanges, of all ranks: patterns that make windows would else make them in several
/// groups at once, which Open MPI 4.1 confuses. What is left to `auto` is chosen by the first exchange that is made,
/// and is the same for all others.
class ChosenMethod {
 public:
  /// Local. Refers to `all`, a process grid.
  explicit ChosenMethod(const comm::Communicator& all) : all_(all) {}

  const comm::Communicator& grid() const { return all_; }
  /// Local. For the next exchange; ranks have the numbers of grid().
  const comm::Communicator& comm() const { return chosen_ ? *chosen_ : all_; }

  /// Collective over all ranks. Commits an exchange of comm().
  void commit(comm::ExchangeBase& exchange) {
    exchange.commit();
    if (!record_.empty()) return;
    record_ = method_of(all_, exchange);
    if (exchange.timed_methods().size() > 1) chosen_.emplace(all_.native(), exchange.chosen());
  }

  /// Local. For the record; empty: nothing is exchanged.
  const nlohmann::ordered_json& record() const { return record_; }

 private:
  const comm::Communicator& all_;
  std::optional<comm::Communicator> chosen_;
  nlohmann::ordered_json record_ = nlohmann::ordered_json::object();
};

} // namespace kontor::miniapp

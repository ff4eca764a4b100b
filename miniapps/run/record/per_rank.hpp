// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/timers.hpp"

#include <kontor/comm/communicator.hpp>

#include <nlohmann/json.hpp>

namespace kontor::miniapp {

/// The seconds of this rank in each repeat, in all and in each region.
class RepeatTimes {
 public:
  /// Local. Call after each repeat: `wall` is what it took on this rank, `timers` have added up all repeats so far.
  void add(double wall, const Timers& timers);

  /// Collective; valid at rank 0, null elsewhere and if there are no repeats. The object /run/per_rank, rounded to
  /// nanoseconds. All ranks must have the same regions and repeats, which summarise() verifies. Rank 0 holds 8 bytes a
  /// rank, repeat and region.
  nlohmann::ordered_json over_ranks(const comm::Communicator&) const;

 private:
  std::vector<double> wall_;
  std::vector<std::map<std::string, double>> so_far_; ///< what the regions had added up after each repeat
};

} // namespace kontor::miniapp

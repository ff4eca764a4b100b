// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/timers.hpp"

#include <kontor/comm/communicator.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>

namespace kontor::miniapp {

/// The seconds of this rank in each repeat, in all and in each region.
class RepeatTimes {
 public:
  /// Local. Call after each repeat: `wall` is what it took on this rank, `timers` have added up all repeats so far.
  void add(double wall, const Timers& timers);

  /// In each repeat.
  const std::vector<double>& wall() const { return wall_; }
  /// The regions whose time is part of `wall`.
  std::vector<std::string> regions() const;
  /// Of one repeat; 0 if the region was not asked for then.
  double seconds(std::size_t repeat, const std::string& region) const;

 private:
  std::vector<double> wall_;
  std::vector<std::map<std::string, double>> so_far_; ///< what the regions had added up after each repeat
};

/// The same of all ranks.
struct PerRank {
  std::vector<std::string> regions;
  std::size_t repeats = 0;
  std::vector<double> values; ///< (rank, repeat, 1 + region): first the wall time, then the regions'
};

/// Collective; valid at rank 0, empty elsewhere. All ranks must have the same regions and repeats, which summarise()
/// verifies. Rank 0 holds 8 bytes a rank, repeat and region; the others their own only.
PerRank gather(const comm::Communicator&, const RepeatTimes&);

/// Local. The object per_rank of the record, rounded to nanoseconds.
nlohmann::ordered_json to_json(const PerRank&);

} // namespace kontor::miniapp

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/problem/matrix.hpp"
#include "run/record/app_record.hpp"

#include <kontor/device/streams.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kontor::matmul {

/// When a rank did what in its steps, by the clock of the host or the events of a device. Nothing is
/// allocated in a step, but for a device's events in the first run.
class Timeline {
 public:
  /// Local. What there is to be told, and how often each at most.
  Timeline(int rank, const std::vector<std::pair<std::string, std::size_t>>& activities) : rank_(rank) {
    for (const auto& [name, count] : activities) {
      names_.push_back(name);
      entries_.emplace_back(count);
    }
  }

  /// Local. All that follows is told from here on.
  void start(const Space& instance) {
    start_.record(instance);
    for (auto& entries : entries_)
      for (auto& entry : entries) entry.ended = false;
  }
  void begin(int activity, std::int64_t number, const Space& instance) {
    at(activity, number).begin.record(instance);
  }
  void end(int activity, std::int64_t number, const Space& instance) {
    at(activity, number).end.record(instance);
    at(activity, number).ended = true;
  }

  const std::vector<std::string>& activities() const { return names_; }
  /// Local. When all that was recorded is complete.
  std::vector<miniapp::TimelineEntry> entries() const {
    std::vector<miniapp::TimelineEntry> table;
    for (std::size_t activity = 0; activity < entries_.size(); ++activity)
      for (std::size_t number = 0; number < entries_[activity].size(); ++number) {
        const auto& entry = entries_[activity][number];
        if (entry.ended)
          table.push_back({rank_, static_cast<int>(activity), static_cast<std::int64_t>(number),
                           entry.begin.seconds_since(start_), entry.end.seconds_since(start_)});
      }
    return table;
  }

 private:
  using Event = device::TimedEvent<Space>;
  struct Entry {
    Event begin, end;
    bool ended = false;
  };
  Entry& at(int activity, std::int64_t number) {
    return entries_[static_cast<std::size_t>(activity)][static_cast<std::size_t>(number)];
  }

  int rank_;
  Event start_;
  std::vector<std::string> names_;
  std::vector<std::vector<Entry>> entries_; ///< by activity and number
};

} // namespace kontor::matmul

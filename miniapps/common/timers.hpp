// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kontor::miniapp {

/// Host seconds by region, on this rank.
class Timers {
 public:
  struct Entry {
    double seconds = 0;
    std::int64_t calls = 0;
  };

  void add(std::string_view region, double seconds, std::int64_t calls = 1) {
    auto& entry = entries_[std::string(region)];
    entry.seconds += seconds;
    entry.calls += calls;
  }

  /// The phases of an exchange become the regions pack, post, wait and unpack.
  void add(const comm::PhaseTimes& times);

  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry> entries_;
};

/// One region over all ranks, in seconds.
struct RegionSummary {
  std::string region;
  std::int64_t calls = 0;
  double min = 0;
  double median = 0;
  double max = 0;
  int slowest_rank = 0;
};

/// Collective; every rank has the same regions. Valid on every rank.
std::vector<RegionSummary> summarise(const comm::Communicator&, const Timers&);

/// Adds the time from its construction to its end to a sum.
class ScopedTime {
 public:
  explicit ScopedTime(double& sum) : sum_(&sum) {}
  ~ScopedTime() { watch_.lap(*sum_); }
  ScopedTime(const ScopedTime&) = delete;
  ScopedTime& operator=(const ScopedTime&) = delete;

 private:
  double* sum_;
  comm::Stopwatch watch_;
};

/// Calls work() and adds its time to a region; returns what it returns.
template <class Work>
auto timed(Timers& timers, std::string_view region, const Work& work) {
  comm::Stopwatch watch;
  auto result = work();
  double seconds = 0;
  watch.lap(seconds);
  timers.add(region, seconds);
  return result;
}

/// The middle value, or the mean of the two middle ones. `values` is not empty.
double median(std::vector<double> values);

} // namespace kontor::miniapp

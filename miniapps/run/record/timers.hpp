// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/device/compat.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kontor::miniapp {

/// What a region's time goes to. Communication waits for other ranks or moves data between them.
enum class RegionKind { work, packing, communication };

/// The host seconds of one region on this rank.
struct Timer {
  std::string label; ///< of the region in Kokkos Tools: "<module>/<region>"
  double seconds = 0;
  std::int64_t calls = 0;
  bool once = false; ///< outside of the repeats, such as a part of the set-up: reset() leaves it
  RegionKind kind = RegionKind::work;

  void add(double more_seconds, std::int64_t more_calls = 1) {
    seconds += more_seconds;
    calls += more_calls;
  }
};

/// Whether what a repeat does in a region is taken off its time: writing fields of a series, and checkpoints.
inline bool apart(std::string_view region) {
  return region == "io" || region == "checkpoint";
}

/// The regions that the time of this rank is told by. A region that was asked for once is in the record; all
/// ranks must ask for the same ones.
class Timers {
 public:
  /// `module` begins the labels of the regions: the name of the app.
  explicit Timers(std::string module = "run") : module_(std::move(module)) {}
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  /// Local. A reference to the region's timer, which lasts as long as this: look it up once, not each step.
  Timer& operator[](std::string_view region);
  /// Local. The same for a region that is timed once a run, outside of the repeats.
  Timer& once(std::string_view region);
  /// Local. The same for a region that waits for other ranks or moves data between them.
  Timer& communication(std::string_view region);

  /// Local. The phases of an exchange become the regions pack, post, wait and unpack.
  void add(const comm::PhaseTimes& times);

  /// Local. Times and calls of what is repeated are 0 again; regions stay.
  void reset();

  const std::map<std::string, Timer, std::less<>>& entries() const { return entries_; }

 private:
  std::string module_;
  std::map<std::string, Timer, std::less<>> entries_;
};

/// From its construction to its end a region of Kokkos Tools is open; then its time and `calls` are added to
/// the timer. Costs two looks at the clock.
class ScopedTimer {
 public:
  explicit ScopedTimer(Timer& timer, std::int64_t calls = 1)
      : timer_(&timer), calls_(calls), region_(timer.label) {}
  ~ScopedTimer() {
    double seconds = 0;
    watch_.lap(seconds);
    timer_->add(seconds, calls_);
  }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  Timer* timer_;
  std::int64_t calls_;
  device::Region region_;
  comm::Stopwatch watch_;
};

/// One region over all ranks, in seconds.
struct RegionSummary {
  std::string region;
  std::int64_t calls = 0; ///< of rank 0
  double min = 0;
  double median = 0;
  double mean = 0;
  double max = 0;
  int slowest_rank = 0;
  bool once = false; ///< outside of the repeats
  RegionKind kind = RegionKind::work;
};

/// Collective; valid at rank 0, empty elsewhere. Throws AgreedError on every rank, naming one and its
/// regions, unless all ranks have the same regions.
std::vector<RegionSummary> summarise(const comm::Communicator&, const Timers&);

/// The middle value, or the mean of the two middle ones. `values` is not empty.
double median(std::vector<double> values);

} // namespace kontor::miniapp

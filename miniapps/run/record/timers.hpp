// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/distribution.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/device/clock.hpp>
#include <kontor/device/compat.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kontor::miniapp {

struct Timer;

/// A time that this rank has spent in a region, by device::seconds().
struct Interval {
  const Timer* timer;
  double begin, end;
};

/// The host seconds of one region on this rank.
struct Timer {
  std::string label; ///< of the region in Kokkos Tools: "<module>/<region>"
  double seconds = 0;
  std::int64_t calls = 0;
  bool once = false; ///< outside of the repeats, such as a part of the set-up: reset() leaves it
  /// What its time goes to: compute, packing (makes messages contiguous), communication (waits for other ranks or moves
  /// data between them), io, other.
  std::string_view kind = "compute";
  std::vector<Interval>* trace = nullptr; ///< takes the intervals, as far as it has room; null: they are not wanted

  void add(double more_seconds, std::int64_t more_calls = 1) {
    seconds += more_seconds;
    calls += more_calls;
  }
  void add_to_trace(double begin, double end) const {
    if (trace && trace->size() < trace->capacity()) trace->push_back({this, begin, end});
  }
  /// Whether its time is not part of a repeat's: files that a repeat writes are taken off.
  bool outside() const { return once || kind == "io"; }
};

/// The regions that the time of this rank is told by. A region that rank 0 has asked for once is in the record; a rank
/// that has not spends no time there.
class Timers {
 public:
  /// `module` begins the labels of the regions: the name of the app.
  explicit Timers(std::string module = "run") : module_(std::move(module)) {}
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  /// Local. A reference to the timer of a region that computes. It lasts as long as this: look it up once, not each
  /// step.
  Timer& operator[](std::string_view region);
  /// Local. The same for a region that is timed once a run, outside of the repeats.
  Timer& once(std::string_view region, std::string_view kind = "other");
  /// Local. The same for a region that waits for other ranks or moves data between them.
  Timer& communication(std::string_view region) { return declare(region, "communication"); }
  /// Local. The same for a region of a repeat that writes files.
  Timer& io(std::string_view region) { return declare(region, "io"); }

  /// Local. The phases of an exchange become the regions pack, post, wait and unpack.
  void add(const comm::PhaseTimes& times);

  /// Local. Host seconds of single exchanges or steps, in the repeats. Valid as long as this. All ranks must ask for
  /// the same names.
  Distribution& durations(std::string_view name);
  const std::map<std::string, Distribution, std::less<>>& durations() const { return durations_; }

  /// Local. From here on intervals of all regions are kept, until so many steps are made. Room for them is allocated at
  /// once: for 64 a step, and for a million on all ranks together. Intervals for which there is no room are dropped.
  void begin_trace(std::int64_t steps, int ranks);
  /// Local. So many more steps are made.
  void steps_made(std::int64_t steps) {
    if (traced_steps_ > 0 && (traced_steps_ -= steps) <= 0) end_trace();
  }
  void end_trace();
  /// Collective; valid at rank 0, empty elsewhere and without intervals. The table /run/trace of all ranks, in seconds
  /// from the begin.
  nlohmann::ordered_json trace(const comm::Communicator&) const;

  /// Local. Calls work(), whose times and calls do not count but in regions that are timed once a run.
  template <class Work>
  void uncounted(const Work& work) {
    const auto before = entries_;
    work();
    for (auto& [region, timer] : entries_) {
      if (timer.once) continue;
      const auto at = before.find(region);
      timer.seconds = at == before.end() ? 0 : at->second.seconds;
      timer.calls = at == before.end() ? 0 : at->second.calls;
    }
  }

  /// Local. Times and calls of what is repeated are 0 again, durations and repeats forgotten; regions stay.
  void reset();

  /// Local. A repeat is complete, which has taken this rank so many seconds.
  void end_repeat(double wall);

  const std::map<std::string, Timer, std::less<>>& entries() const { return entries_; }

  /// Collective; valid at rank 0, null elsewhere and without complete repeats. The object /run/per_rank: the seconds of
  /// each rank in each repeat and region, rounded to nanoseconds. All ranks have the same repeats.
  nlohmann::ordered_json per_rank(const comm::Communicator&) const;

 private:
  struct Repeat {
    double wall;
    std::map<std::string, double> sums; ///< what the regions had added up at its end
  };
  Timer& declare(std::string_view region, std::string_view kind);

  std::string module_;
  std::map<std::string, Timer, std::less<>> entries_;
  std::map<std::string, Distribution, std::less<>> durations_;
  std::vector<Repeat> repeats_;
  std::vector<Interval> trace_;
  double trace_begin_ = 0;
  std::int64_t traced_steps_ = 0; ///< that are still to be made; 0: intervals are not kept
};

/// From its construction to its end a region of Kokkos Tools is open; then its time and `calls` are added to the timer.
/// Costs two looks at the clock.
class ScopedTimer {
 public:
  explicit ScopedTimer(Timer& timer, std::int64_t calls = 1) : timer_(&timer), calls_(calls), region_(timer.label) {}
  ~ScopedTimer() {
    const double end = device::seconds();
    timer_->add(end - begin_, calls_);
    timer_->add_to_trace(begin_, end);
  }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  Timer* timer_;
  std::int64_t calls_;
  device::Region region_;
  double begin_ = device::seconds();
};

/// Collective; valid at rank 0, empty elsewhere. The table /run/timers: seconds over all ranks, calls of rank 0; of one
/// repeat, where so many have been added up.
nlohmann::ordered_json summarise(const comm::Communicator&, const Timers&, std::int64_t repeats = 1);

/// Collective; valid at rank 0, empty elsewhere. The table /run/distributions of durations. None without samples, and
/// none where kernels run on a device, whose work the host queues.
nlohmann::ordered_json distributions(const comm::Communicator&, const Timers&);

/// The middle value, or the mean of the two middle ones. `values` is not empty.
double median(std::vector<double> values);

} // namespace kontor::miniapp

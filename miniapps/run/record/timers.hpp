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

class Trace;

/// The host seconds of one region on this rank.
struct Timer {
  std::string label; ///< of the region in Kokkos Tools: "<module>/<region>"
  double seconds = 0;
  std::int64_t calls = 0;
  bool once = false; ///< outside of the repeats, such as a part of the set-up: reset() leaves it
  /// What its time goes to: compute, packing (makes messages contiguous), communication (waits for other ranks or moves
  /// data between them), io, other.
  std::string_view kind = "compute";
  Trace* trace = nullptr; ///< takes the intervals of the region; null: they are not wanted

  void add(double more_seconds, std::int64_t more_calls = 1) {
    seconds += more_seconds;
    calls += more_calls;
  }
  /// Whether its time is not part of a repeat's: files that a repeat writes are taken off.
  bool outside() const { return once || kind == "io"; }
};

/// The regions that the time of this rank is told by. A region that was asked for once is in the record; all ranks must
/// ask for the same ones.
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

  /// Local. From here on intervals of all regions go there; null: nowhere.
  void trace(Trace*);
  Trace* trace() const { return trace_; }

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
  /// each rank in each repeat and region, rounded to nanoseconds. All ranks must have the same regions and repeats,
  /// which summarise() verifies.
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
  Trace* trace_ = nullptr;
};

/// Local. To the timer's trace, which is not null.
void add_to_trace(const Timer&, double begin, double end);

/// From its construction to its end a region of Kokkos Tools is open; then its time and `calls` are added to the timer.
/// Costs two looks at the clock.
class ScopedTimer {
 public:
  explicit ScopedTimer(Timer& timer, std::int64_t calls = 1) : timer_(&timer), calls_(calls), region_(timer.label) {}
  ~ScopedTimer() {
    const double end = device::seconds();
    timer_->add(end - begin_, calls_);
    if (timer_->trace) add_to_trace(*timer_, begin_, end);
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
/// repeat, where so many have been added up. Throws AgreedError on every rank, naming one and its regions, unless all
/// ranks have the same regions.
nlohmann::ordered_json summarise(const comm::Communicator&, const Timers&, std::int64_t repeats = 1);

/// Collective; valid at rank 0, empty elsewhere. The table /run/distributions of durations. None without samples, and
/// none where kernels run on a device, whose work the host queues.
nlohmann::ordered_json distributions(const comm::Communicator&, const Timers&);

/// The middle value, or the mean of the two middle ones. `values` is not empty.
double median(std::vector<double> values);

} // namespace kontor::miniapp

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/handshake.hpp>
#include <kontor/comm/kokkos_compat.hpp>
#include <kontor/comm/pack.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/routing.hpp>
#include <kontor/comm/view_buffer.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kontor::comm {

/// What owns the memory of Views.
using Owners = std::vector<std::shared_ptr<void>>;

/// One way of carrying an exchange, with all that it repeats: staging memory, pack kernels and plans.
///
/// On path `staged` the pack kernels write into pinned host memory and the unpack kernels read from it, a
/// wave of pieces at a time: while one is between hosts, the next is between device and host.
template <class T, class ExecutionSpace, class MemorySpace>
class Carrier final : public detail::InFlight {
 public:
  /// Collective over the communicator; all steps are with the same instance. The memory of the slots must
  /// outlive the carrier: `views` own it. Throws on every rank.
  Carrier(const Communicator& comm, const Way& way, const std::string& label, std::span<const Slot> slots,
          const Agreement& agreement, const ExecutionSpace& instance, Owners views = {})
      : comm_(comm.share()), way_(way), views_(std::move(views)),
        stream_ordered_(way.backend->capabilities().stream_ordered) {
    auto routing = route(comm, way_, label, slots, agreement);
    packing_ = routing.used;
    if (routing.staged)
      pinned_ = Pinned("comm/pinned", routing.staging_elements);
    else
      staging_ = Staging("comm/staging", routing.staging_elements);
    T* const memory = routing.staged ? data_of(pinned_) : data_of(staging_);
    for (auto& [schedule, sends, receives] : routing.waves) {
      point_into(memory, schedule.sends, sends);
      point_into(memory, schedule.receives, receives);
      idle_ = idle_ && schedule.sends.empty() && schedule.receives.empty();
      schedule.stream = native_stream(instance);
      auto& wave = waves_.emplace_back();
      wave.plan = make_plan(comm, schedule);
      list_pieces(wave.packs, schedule.sends, sends);
      releases_ = list_pieces(wave.unpacks, schedule.receives, receives) || releases_;
    }
    if (waves_.size() > 1)
      for (auto& lane : lanes_) lane.emplace();
  }

  /// `times` may be null: then no phase is timed.
  void start(const ExecutionSpace& instance, PhaseTimes* times) {
    PhaseClock clock(times);
    step_ = Step::failed; // unless this returns
    finished_ = 0;
    const auto lane = [&](std::size_t wave) -> const ExecutionSpace& {
      return waves_.size() == 1 ? instance : lanes_[wave % lanes_.size()]->get();
    };
    if (waves_.size() > 1) fence(instance, "comm/ready");
    for (std::size_t wave = 0; wave < waves_.size(); ++wave) {
      if (wave == 0) pack(waves_[0], lane(0));
      if (wave + 1 < waves_.size()) pack(waves_[wave + 1], lane(wave + 1));
      if (!stream_ordered_ && !idle_) fence(lane(wave), "comm/packed");
      clock.lap(&PhaseTimes::pack);
      const Region region("comm/post");
      waves_[wave].plan->start();
      clock.lap(&PhaseTimes::post);
    }
    step_ = Step::under_way;
  }

  void finish(const ExecutionSpace& instance, PhaseTimes* times) {
    finish_waves(instance, times, [](Plan& plan) {
      plan.finish();
      return true;
    });
  }

  /// Goes on with what has come, in the order of waves; whether that was all.
  bool test(const ExecutionSpace& instance, PhaseTimes* times) {
    return finish_waves(instance, times, [](Plan& plan) { return plan.test(); });
  }

  void poll() {
    for (auto& wave : waves_) wave.plan->poll();
  }

  /// Local. A step will not be finished: gives it up, and says whether nothing of it is under way any more.
  bool over() noexcept override {
    bool result = true;
    for (auto& wave : waves_) result = wave.plan->give_up() && result;
    return result;
  }

  /// Ends a carrier: collective, with the messages of a step that was not finished, or at once where this
  /// rank ends alone; then what MPI may still use stays with the communicator.
  static void retire(std::unique_ptr<Carrier> carrier) noexcept {
    const auto step = carrier->step_;
    const bool left = step == Step::failed || (step == Step::under_way && !carrier->comm_.ends_together());
    if (!left || carrier->over()) return;
    const auto comm = std::move(carrier->comm_);
    comm.keep(std::move(carrier));
  }

  const Options& options() const { return way_.options; }
  Packing packing() const { return packing_; }
  bool stream_ordered() const { return stream_ordered_; }
  bool failed() const { return step_ == Step::failed; }

 private:
  using Staging = Kokkos::View<T*, MemorySpace>;
  using Pinned = Kokkos::View<T*, PinnedSpace>;
  using Packs = PackList<T, ExecutionSpace>;

  struct Wave {
    Packs packs;
    Packs unpacks;
    std::unique_ptr<Plan> plan;
  };

  /// A region only where there is something to pack: it takes as long as a call of MPI's.
  void pack(Wave& wave, const ExecutionSpace& instance) {
    std::optional<Region> region;
    if (!wave.packs.empty()) region.emplace("comm/pack");
    wave.plan->prepare();
    wave.packs.template run<Packs::Direction::pack>(instance);
  }

  /// Unpacks each wave that is complete(plan), up to the first that is not; whether all of them are.
  template <class Complete>
  bool finish_waves(const ExecutionSpace& instance, PhaseTimes* times, const Complete& complete) {
    PhaseClock clock(times);
    step_ = Step::failed; // unless this returns
    for (; finished_ < waves_.size(); ++finished_) {
      auto& wave = waves_[finished_];
      bool is_complete = false;
      {
        const Region region("comm/wait");
        is_complete = complete(*wave.plan);
      }
      clock.lap(&PhaseTimes::wait);
      if (!is_complete) {
        step_ = Step::under_way;
        return false;
      }
      if (!wave.unpacks.empty()) {
        const Region region("comm/unpack");
        wave.unpacks.template run<Packs::Direction::unpack>(instance);
      }
      if (releases_) {
        if (!stream_ordered_) fence(instance, "comm/unpacked");
        wave.plan->release();
      }
      clock.lap(&PhaseTimes::unpack);
    }
    step_ = Step::none;
    return true;
  }

  static void point_into(T* memory, std::vector<Transfer>& transfers,
                         const std::vector<PackedTransfer>& packed) {
    for (const auto& p : packed)
      if (p.offset != in_own_memory) transfers[p.index].buffer.data = memory + p.offset;
  }

  std::unique_ptr<Plan> make_plan(const Communicator& comm, Schedule& schedule) {
    std::unique_ptr<Plan> plan;
    std::optional<std::string> problem;
    try {
      plan = way_.backend->plan(schedule);
    } catch (const UsageError&) {
      throw; // on every rank
    } catch (const Error& error) {
      problem = error.what();
    }
    comm.agree(problem);
    return plan;
  }

  /// Returns whether any of them lies in memory of the backend's own.
  static bool list_pieces(Packs& list, const std::vector<Transfer>& transfers,
                          const std::vector<PackedTransfer>& packed) {
    bool own = false;
    for (const auto& [index, strided, offset] : packed) {
      const auto& transfer = transfers[index];
      list.add(static_cast<T*>(strided.data), static_cast<T*>(transfer.buffer.data),
               loop_nest(strided.shape, transfer.order));
      own = own || offset == in_own_memory;
    }
    list.commit();
    return own;
  }

  enum class Step : std::uint8_t { none, under_way, failed };

  Communicator comm_;
  Way way_;
  Owners views_;
  bool stream_ordered_;
  Step step_ = Step::none;
  Packing packing_ = Packing::none;
  bool idle_ = true;      ///< this rank neither sends nor receives: it has nothing to wait for
  bool releases_ = false; ///< receives lie in memory of the backend's own
  Staging staging_;
  Pinned pinned_;
  std::array<std::optional<OwnInstance<ExecutionSpace>>, 2> lanes_; ///< where waves are packed in turns
  std::size_t finished_ = 0; ///< waves of the step under way that have been unpacked
  std::vector<Wave> waves_;  // last: plans are gone before the memory they use
};

/// Of a Carrier: calls its retire().
struct Retire {
  template <class Carrier>
  void operator()(Carrier* carrier) const noexcept {
    Carrier::retire(std::unique_ptr<Carrier>(carrier));
  }
};

/// A Carrier and the duty to end it.
template <class Carrier>
using Held = std::unique_ptr<Carrier, Retire>;

} // namespace kontor::comm

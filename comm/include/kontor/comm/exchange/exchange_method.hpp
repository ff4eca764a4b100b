// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/exchange/handshake.hpp>
#include <kontor/comm/exchange/routing.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/views/pack.hpp>
#include <kontor/comm/views/view_buffer.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/gpu.hpp>
#include <kontor/device/streams.hpp>

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

/// An exchange by one method, with all that it repeats: staging memory, pack kernels and plans.
///
/// On path `staged` the pack kernels write into pinned host memory and the unpack kernels read from it, a
/// chunk of each message at a time: while one is between hosts, the next is between device and host.
template <class T, class ExecutionSpace, class MemorySpace>
class ExchangeMethod final : public detail::InFlight {
 public:
  /// Collective over the communicator; all steps are with the same instance. The memory of the slots must
  /// outlive the exchange method: `views` own it. Throws on every rank.
  ExchangeMethod(const Communicator& comm, const Method& method, const std::string& label,
                 std::span<const Slot> slots, const Agreement& agreement, const ExecutionSpace& instance,
                 Owners views = {})
      : comm_(comm.share()), method_(method), views_(std::move(views)),
        stream_ordered_(method.can.stream_ordered) {
    auto routing = route(comm, method_, label, slots, agreement);
    packing_ = routing.used;
    if (routing.staged)
      pinned_ = Pinned("comm/pinned", routing.staging_elements);
    else
      staging_ = Staging("comm/staging", routing.staging_elements);
    T* const memory = routing.staged ? data_of(pinned_) : data_of(staging_);
    for (auto& [schedule, sends, receives] : routing.chunks) {
      point_into(memory, schedule.sends, sends);
      point_into(memory, schedule.receives, receives);
      idle_ = idle_ && schedule.sends.empty() && schedule.receives.empty();
      schedule.stream = device::native_stream(instance);
      auto& chunk = chunks_.emplace_back();
      auto planned = make_plan(comm, schedule);
      chunk.plan = std::move(planned.plan);
      list_pieces(chunk.packs, schedule.sends, sends, planned.sends);
      releases_ = list_pieces(chunk.unpacks, schedule.receives, receives, planned.receives) || releases_;
    }
    if (chunks_.size() > 1)
      for (auto& instance_of : streams_) instance_of.emplace();
  }

  /// `times` may be null: then no phase is timed.
  void start(const ExecutionSpace& instance, PhaseTimes* times) {
    PhaseClock clock(times);
    step_ = Step::failed; // unless this returns
    finished_ = 0;
    const auto instance_of = [&](std::size_t chunk) -> const ExecutionSpace& {
      return chunks_.size() == 1 ? instance : streams_[chunk % streams_.size()]->get();
    };
    if (chunks_.size() > 1) device::fence(instance, "comm/ready");
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      if (chunk == 0) pack(chunks_[0], instance_of(0));
      if (chunk + 1 < chunks_.size()) pack(chunks_[chunk + 1], instance_of(chunk + 1));
      if (!stream_ordered_ && !idle_) device::fence(instance_of(chunk), "comm/packed");
      clock.lap(&PhaseTimes::pack);
      const device::Region region("comm/post");
      chunks_[chunk].plan->start();
      clock.lap(&PhaseTimes::post);
    }
    step_ = Step::under_way;
  }

  void finish(const ExecutionSpace& instance, PhaseTimes* times) {
    finish_chunks(instance, times, [](Plan& plan) {
      plan.finish();
      return true;
    });
  }

  /// Goes on with what has come, in the order of chunks; whether that was all.
  bool test(const ExecutionSpace& instance, PhaseTimes* times) {
    return finish_chunks(instance, times, [](Plan& plan) { return plan.test(); });
  }

  void poll() {
    for (auto& chunk : chunks_) chunk.plan->poll();
  }

  /// Local. A step will not be finished: gives it up, and says whether nothing of it is under way any more.
  bool over() noexcept override {
    bool result = true;
    for (auto& chunk : chunks_) result = chunk.plan->give_up() && result;
    return result;
  }

  /// Ends an exchange method: collective, with the messages of a step that was not finished, or at once where
  /// this rank ends alone; then what MPI may still use stays with the communicator.
  static void retire(std::unique_ptr<ExchangeMethod> exchange_method) noexcept {
    const auto step = exchange_method->step_;
    const bool left = step == Step::failed ||
                      (step == Step::under_way && !detail::internals(exchange_method->comm_).ends_together());
    if (!left || exchange_method->over()) return;
    const auto comm = std::move(exchange_method->comm_);
    detail::internals(comm).keep(std::move(exchange_method));
  }

  const Options& options() const { return method_.options; }
  Packing packing() const { return packing_; }
  bool stream_ordered() const { return stream_ordered_; }
  bool failed() const { return step_ == Step::failed; }

 private:
  using Staging = Kokkos::View<T*, MemorySpace>;
  using Pinned = Kokkos::View<T*, device::PinnedSpace>;
  using Packs = PackList<T, ExecutionSpace>;

  struct Chunk {
    Packs packs;
    Packs unpacks;
    std::unique_ptr<Plan> plan;
  };

  /// A region only where there is something to pack: it takes as long as a call of MPI's.
  void pack(Chunk& chunk, const ExecutionSpace& instance) {
    std::optional<device::Region> region;
    if (!chunk.packs.empty()) region.emplace("comm/pack");
    chunk.plan->prepare();
    chunk.packs.template run<Packs::Direction::pack>(instance);
  }

  /// Unpacks each chunk that is complete(plan), up to the first that is not; whether all of them are.
  template <class Complete>
  bool finish_chunks(const ExecutionSpace& instance, PhaseTimes* times, const Complete& complete) {
    PhaseClock clock(times);
    step_ = Step::failed; // unless this returns
    for (; finished_ < chunks_.size(); ++finished_) {
      auto& chunk = chunks_[finished_];
      bool is_complete = false;
      {
        const device::Region region("comm/wait");
        is_complete = complete(*chunk.plan);
      }
      clock.lap(&PhaseTimes::wait);
      if (!is_complete) {
        step_ = Step::under_way;
        return false;
      }
      if (!chunk.unpacks.empty()) {
        const device::Region region("comm/unpack");
        chunk.unpacks.template run<Packs::Direction::unpack>(instance);
      }
      if (releases_) {
        if (!stream_ordered_) device::fence(instance, "comm/unpacked");
        chunk.plan->release();
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

  PlannedExchange make_plan(const Communicator& comm, const Schedule& schedule) {
    PlannedExchange planned;
    std::optional<std::string> problem;
    try {
      planned = method_.backend->plan(schedule);
    } catch (const UsageError&) {
      throw; // on every rank
    } catch (const MpiError&) {
      throw; // the other ranks may not come as far as to agree
    } catch (const Error& error) {
      problem = error.what();
    }
    comm.agree(problem);
    return planned;
  }

  /// `places`: those in memory of the backend's own. Returns whether there are any.
  static bool list_pieces(Packs& list, const std::vector<Transfer>& transfers,
                          const std::vector<PackedTransfer>& packed, const std::vector<void*>& places) {
    bool own = false;
    for (const auto& [index, strided, offset] : packed) {
      const auto& transfer = transfers[index];
      const bool in_own = offset == in_own_memory;
      void* const place = in_own ? places[index] : transfer.buffer.data;
      list.add(static_cast<T*>(strided.data), static_cast<T*>(place),
               loop_nest(strided.shape, transfer.order), strided.rows.indices);
      own = own || in_own;
    }
    list.commit();
    return own;
  }

  enum class Step : std::uint8_t { none, under_way, failed };

  Communicator comm_;
  Method method_;
  Owners views_;
  bool stream_ordered_;
  Step step_ = Step::none;
  Packing packing_ = Packing::none;
  bool idle_ = true;      ///< this rank neither sends nor receives: it has nothing to wait for
  bool releases_ = false; ///< receives lie in memory of the backend's own
  Staging staging_;
  Pinned pinned_;
  std::array<std::optional<device::OwnedStream<ExecutionSpace>>, 2>
      streams_;               ///< where chunks are packed in turns
  std::size_t finished_ = 0;  ///< chunks of the step under way that have been unpacked
  std::vector<Chunk> chunks_; // last: plans are gone before the memory they use
};

/// Of an ExchangeMethod: calls its retire().
struct Retire {
  template <class ExchangeMethod>
  void operator()(ExchangeMethod* exchange_method) const noexcept {
    ExchangeMethod::retire(std::unique_ptr<ExchangeMethod>(exchange_method));
  }
};

/// An ExchangeMethod and the duty to end it.
template <class ExchangeMethod>
using Held = std::unique_ptr<ExchangeMethod, Retire>;

} // namespace kontor::comm

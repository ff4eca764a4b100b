// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/handshake.hpp>
#include <kontor/comm/pack.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/routing.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kontor::comm {

/// One way of carrying an exchange, with all that it repeats: staging memory, pack kernels and plan.
template <class T, class ExecutionSpace, class MemorySpace>
class Carrier {
 public:
  /// Collective over the communicator. The memory of the slots must outlive the carrier. Throws on every
  /// rank.
  Carrier(const Communicator& comm, const Way& way, const std::string& label, std::span<const Slot> slots,
          const Agreement& agreement)
      : way_(way) {
    auto routing = route(comm, way_, label, slots, agreement);
    packing_ = routing.used;
    staging_ = Staging("comm/staging", routing.staging_elements);
    point_into_staging(routing.schedule.sends, routing.packed_sends);
    point_into_staging(routing.schedule.receives, routing.packed_receives);
    make_plan(comm, routing.schedule);
    list_pieces(packs_, routing.schedule.sends, routing.packed_sends);
    list_pieces(unpacks_, routing.schedule.receives, routing.packed_receives);
  }

  void start(const ExecutionSpace& instance, PhaseTimes& times) {
    Stopwatch watch;
    {
      const Region region("comm/pack");
      plan_->prepare();
      packs_.template run<Packs::Direction::pack>(instance);
      fence(instance, "comm/packed");
    }
    watch.lap(times.pack);
    const Region region("comm/post");
    plan_->start();
    watch.lap(times.post);
  }

  void finish(const ExecutionSpace& instance, PhaseTimes& times) {
    Stopwatch watch;
    {
      const Region region("comm/wait");
      plan_->finish();
    }
    watch.lap(times.wait);
    const Region region("comm/unpack");
    unpacks_.template run<Packs::Direction::unpack>(instance);
    if (releases_) {
      fence(instance, "comm/unpacked");
      plan_->release();
    }
    watch.lap(times.unpack);
  }

  const Options& options() const { return way_.options; }
  Packing packing() const { return packing_; }

 private:
  using Staging = Kokkos::View<T*, MemorySpace>;
  using Packs = PackList<T, ExecutionSpace>;

  void point_into_staging(std::vector<Transfer>& transfers, const std::vector<PackedTransfer>& packed) const {
    for (const auto& p : packed)
      if (p.offset != in_own_memory) transfers[p.index].buffer.data = staging_.data() + p.offset;
  }

  void make_plan(const Communicator& comm, Schedule& schedule) {
    std::optional<std::string> problem;
    try {
      plan_ = way_.backend->plan(schedule);
    } catch (const Error& error) {
      problem = error.what();
    }
    comm.agree(problem);
  }

  void list_pieces(Packs& list, const std::vector<Transfer>& transfers,
                   const std::vector<PackedTransfer>& packed) {
    for (const auto& [index, strided, offset] : packed) {
      const auto& transfer = transfers[index];
      list.add(static_cast<T*>(strided.data), static_cast<T*>(transfer.buffer.data),
               loop_nest(strided.shape, transfer.order));
      if (&list == &unpacks_ && offset == in_own_memory) releases_ = true;
    }
    list.commit();
  }

  Way way_;
  Packing packing_ = Packing::none;
  bool releases_ = false; ///< receives lie in memory of the backend's own
  Staging staging_;
  Packs packs_;
  Packs unpacks_;
  std::unique_ptr<Plan> plan_; // last: gone before the memory it uses
};

} // namespace kontor::comm

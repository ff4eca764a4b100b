// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/device.hpp"
#include "heat/norm_parts.hpp"
#include "heat/queues.hpp"
#include "heat/row.hpp"

#include <kontor/comm/backend.hpp>
#include <kontor/comm/collectives.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/detail/view_buffer.hpp>
#include <kontor/comm/kokkos/gpu.hpp>
#include <kontor/comm/kokkos/streams.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace kontor::heat {

/// The norms of a run's sweeps over all ranks. On a host each is known when its sweep is. A device leaves
/// this rank's parts in slots, which travel in batches and are read a batch later, so that no sweep waits
/// for the host, nor the host for a sweep that is not long done.
template <class ExecutionSpace>
class Norms {
 public:
  /// The most norms that travel together.
  static constexpr int most_together = 64;

  /// Local; `comm` must outlive this.
  Norms(const comm::Communicator& comm, SweepNorm kind)
      : comm_(&comm), kind_(kind), on_device_sums_(on_device && comm.capabilities().stream_collectives),
        slots_("heat/norm slots", on_device ? 2 * most_together : 0),
        next_("heat/next norm slot", on_device ? 1 : 0),
        host_("heat/norms", on_device ? 2 * most_together : 0) {}

  /// Local. Forgets all norms; waits for the device. So many norms travel together from now on; 1 if each is
  /// asked for soon.
  void begin(int batch) {
    batch_ = batch;
    if (on_device) Kokkos::deep_copy(next_, 0);
    iterations_.clear();
    values_.clear();
    batches_ = {};
    filling_ = 0;
  }

  /// How many norms travel together; 1 on a host.
  int batch() const { return on_device ? batch_ : 1; }

  /// How many sweeps after its own a norm should be read.
  static constexpr std::int64_t lag = on_device ? 1 : 0;

  /// Where the parts of norms go, in the device's memory.
  NormSlots slots() const { return {slots_.data(), next_.data(), 2 * batch_}; }

  /// Collective. Host: `part` is this rank's part of the sweep's norm.
  void add(std::int64_t iteration, double part) {
    iterations_.push_back(iteration);
    values_.push_back(result(comm::allreduce(*comm_, part, op())));
  }

  /// Collective. Device: there is room for so many more in the batch; to be called before they are queued.
  void make_room(int count, Queues<ExecutionSpace>& queues) {
    if (batches_[filling_].count + count > batch_) send(queues);
  }

  /// Collective. Device: the next slot is filled by work on interior().
  void add(std::int64_t iteration, Queues<ExecutionSpace>& queues) {
    iterations_.push_back(iteration);
    if (++batches_[filling_].count == batch_) send(queues);
  }

  /// Collective. All norms of sweeps up to this one are known on return.
  void read(std::int64_t iteration, Queues<ExecutionSpace>& queues) {
    while (values_.size() < iterations_.size() && iterations_[values_.size()] <= iteration) {
      const int oldest = batches_[1 - filling_].sent ? 1 - filling_ : filling_;
      if (!batches_[oldest].sent) send(queues);
      receive(oldest);
    }
  }

  /// Local. The sweeps after this one do not count.
  void forget_after(std::int64_t iteration) {
    while (!iterations_.empty() && iterations_.back() > iteration) iterations_.pop_back();
    if (values_.size() > iterations_.size()) values_.resize(iterations_.size());
  }

  /// Whether read() has nothing left to do.
  bool all_read() const { return values_.size() == iterations_.size(); }

  /// The sweeps that have norms, and the first of those norms: all that are known.
  const std::vector<std::int64_t>& iterations() const { return iterations_; }
  const std::vector<double>& values() const { return values_; }
  /// The last one that is known; 0 if there is none.
  double latest() const { return values_.empty() ? 0 : values_.back(); }

 private:
  struct Batch {
    int count = 0;
    bool sent = false;
    comm::Event<ExecutionSpace> arrived;
  };
  using Slots = Kokkos::View<double*, typename ExecutionSpace::memory_space>;
  using HostSlots = Kokkos::View<double*, comm::PinnedSpace>;

  int place(int batch) const { return batch * batch_; }
  comm::ReduceOp op() const { return kind_ == SweepNorm::max ? comm::ReduceOp::max : comm::ReduceOp::sum; }
  double result(double value) const { return kind_ == SweepNorm::max ? value : std::sqrt(value); }

  template <class View>
  auto part_of(const View& view, int batch) const {
    return Kokkos::subview(view, std::pair<int, int>(place(batch), place(batch) + batches_[batch].count));
  }

  /// The batch that is being filled goes on its way, and the other one is filled next.
  void send(Queues<ExecutionSpace>& queues) {
    const int b = filling_;
    const auto parts = part_of(slots_, b);
    const auto* instance = &queues.interior();
    if (on_device_sums_) { // on the instance of the halo, so that the backend has all its work on one
      queues.halo_follows();
      instance = &queues.halo();
      comm_->backend().stream_collectives()->allreduce(comm::native_stream(*instance), parts.data(),
                                                       comm::to_buffer(parts), op());
    }
    Kokkos::deep_copy(*instance, part_of(host_, b), parts);
    batches_[b].arrived.record(*instance);
    batches_[b].sent = true;
    filling_ = 1 - b;
    if (batches_[b].count < batch_) set_next(queues.interior(), slots(), place(filling_));
    if (batches_[filling_].sent) receive(filling_);
  }

  void receive(int b) {
    batches_[b].arrived.wait();
    const auto host = part_of(host_, b);
    if (!on_device_sums_) comm::allreduce(*comm_, host, op());
    for (int i = 0; i < batches_[b].count; ++i) values_.push_back(result(host(i)));
    batches_[b].count = 0;
    batches_[b].sent = false;
  }

  const comm::Communicator* comm_;
  SweepNorm kind_;
  bool on_device_sums_;
  Slots slots_;
  Kokkos::View<int*, typename ExecutionSpace::memory_space> next_; ///< of the slots
  HostSlots host_;
  int batch_ = most_together;
  int filling_ = 0;
  std::array<Batch, 2> batches_;
  std::vector<std::int64_t> iterations_;
  std::vector<double> values_;
};

} // namespace kontor::heat

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/batch_reduction.hpp"
#include "stepping/norm.hpp"
#include "stepping/norm_parts.hpp"
#include "stepping/streams.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/communicator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kontor::stepping {

/// The norms of a run's steps over all ranks. On a host each is known when its step is. A device leaves this
/// rank's parts in slots, which travel in batches and are read a batch later, so that no step waits for the
/// host, nor the host for a step that is not long done.
template <class ExecutionSpace>
class DeferredNorms {
 public:
  /// The most norms that travel together.
  static constexpr int most_together = 64;

  /// Local; `comm` must outlive this.
  DeferredNorms(const comm::Communicator& comm, Norm kind)
      : comm_(&comm), kind_(kind), slots_("stepping/norm slots", on_device ? 2 * most_together : 0),
        next_("stepping/next norm slot", on_device ? 1 : 0), batches_{Batch(comm, kind), Batch(comm, kind)} {}

  /// Collective; waits for the device. Forgets all norms, which have been read. So many travel together from
  /// now on; 1 if each is asked for soon.
  void begin(int batch, const Streams<ExecutionSpace>& streams) {
    if (on_device && batch != planned_) {
      for (const int b : {0, 1})
        batches_[b].reduction.plan(streams,
                                   Kokkos::subview(slots_, std::pair<int, int>(b * batch, (b + 1) * batch)));
      planned_ = batch;
    }
    batch_ = batch;
    if (on_device) Kokkos::deep_copy(next_, 0);
    steps_.clear();
    values_.clear();
    for (auto& b : batches_) b.count = 0;
    filling_ = 0;
  }

  /// How many norms travel together; 1 on a host.
  int batch() const { return on_device ? batch_ : 1; }

  /// How many steps after its own a norm should be read.
  static constexpr std::int64_t lag = on_device ? 1 : 0;

  /// Where the parts of norms go, in the device's memory.
  NormSlots slots() const { return {slots_.data(), next_.data(), 2 * batch_}; }

  /// Collective. Host: `part` is this rank's part of the step's norm.
  void add(std::int64_t step, double part) {
    steps_.push_back(step);
    values_.push_back(from_parts(kind_, comm::allreduce(*comm_, part, reduce_op(kind_))));
  }

  /// Collective. Device: there is room for so many more in the batch; to be called before they are queued.
  void make_room(int count, Streams<ExecutionSpace>& streams) {
    if (batches_[filling_].count + count > batch_) send(streams);
  }

  /// Collective. Device: the next slot is filled by work on compute().
  void add(std::int64_t step, Streams<ExecutionSpace>& streams) {
    steps_.push_back(step);
    if (++batches_[filling_].count == batch_) send(streams);
  }

  /// Collective. All norms of steps up to this one are known on return.
  void read(std::int64_t step, Streams<ExecutionSpace>& streams) {
    while (values_.size() < steps_.size() && steps_[values_.size()] <= step) {
      const int oldest = batches_[1 - filling_].reduction.started() ? 1 - filling_ : filling_;
      if (!batches_[oldest].reduction.started()) send(streams);
      receive(oldest);
    }
  }

  /// Collective. The steps after this one, up to which norms are known, do not count. Before anything is
  /// added again comes begin().
  void forget_after(std::int64_t step) {
    for (auto& batch : batches_) {
      if (batch.reduction.started()) batch.reduction.finish();
      batch.count = 0;
    }
    while (!steps_.empty() && steps_.back() > step) steps_.pop_back();
    if (values_.size() > steps_.size()) values_.resize(steps_.size());
  }

  /// Whether read() has nothing left to do.
  bool all_read() const { return values_.size() == steps_.size(); }

  /// The steps that have norms, and the first of those norms: all that are known.
  const std::vector<std::int64_t>& steps() const { return steps_; }
  const std::vector<double>& values() const { return values_; }
  /// The last one that is known, and its step; 0 if there is none.
  double latest() const { return values_.empty() ? 0 : values_.back(); }
  std::int64_t latest_step() const { return values_.empty() ? 0 : steps_[values_.size() - 1]; }

 private:
  struct Batch {
    Batch(const comm::Communicator& comm, Norm kind) : reduction(comm, reduce_op(kind)) {}

    int count = 0;
    BatchReduction<ExecutionSpace> reduction;
  };

  int place(int batch) const { return batch * batch_; }

  /// The batch that is being filled goes on its way, in full though it may not be, and the other one is
  /// filled next.
  void send(Streams<ExecutionSpace>& streams) {
    auto& batch = batches_[filling_];
    batch.reduction.start(streams);
    filling_ = 1 - filling_;
    if (batch.count < batch_) set_next(streams.compute(), slots(), place(filling_));
    if (batches_[filling_].reduction.started()) receive(filling_);
  }

  void receive(int b) {
    const auto parts = batches_[b].reduction.finish().first(static_cast<std::size_t>(batches_[b].count));
    for (const double part : parts) values_.push_back(from_parts(kind_, part));
    batches_[b].count = 0;
  }

  const comm::Communicator* comm_;
  Norm kind_;
  Kokkos::View<double*, typename ExecutionSpace::memory_space> slots_;
  Kokkos::View<int*, typename ExecutionSpace::memory_space> next_; ///< of the slots
  int batch_ = most_together;
  int planned_ = 0; ///< the batch that the reductions were made for
  std::array<Batch, 2> batches_;
  int filling_ = 0;
  std::vector<std::int64_t> steps_;
  std::vector<double> values_;
};

} // namespace kontor::stepping

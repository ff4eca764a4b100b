// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/norm.hpp"
#include "stepping/norm_parts.hpp"
#include "stepping/streams.hpp"
#include "stepping/sum_kind.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/reduction.hpp>
#include <kontor/device/gpu.hpp>
#include <kontor/device/streams.hpp>
#include <kontor/sums/accumulator.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace kontor::stepping {

/// Local; waits for nothing. The next norm goes to that place.
template <class ExecutionSpace>
void set_next(const ExecutionSpace& instance, const NormSlots& slots, int place) {
  int* const next = slots.next;
  Kokkos::parallel_for(
      "stepping/norm slots", Kokkos::RangePolicy<ExecutionSpace>(instance, 0, 1),
      KOKKOS_LAMBDA(int) { *next = place; });
}

/// Numbers in the memory of a space that are reduced over all ranks and brought to the host, again and again: started
/// without waiting, finished later.
template <class ExecutionSpace, class Number>
class BatchReduction {
 public:
  using Numbers = Kokkos::View<Number*, typename ExecutionSpace::memory_space>;

  /// Local; `comm` must outlive this.
  BatchReduction(const comm::Communicator& comm, comm::ReduceOp op) : comm_(&comm), op_(op) {}

  /// Collective, between steps. The numbers that are reduced from now on, equally many on all ranks.
  void plan(const Streams<ExecutionSpace>& streams, const Numbers& numbers) {
    reduction_.reset();
    host_ = Host("stepping/norms", numbers.extent(0));
    // A backend that reduces on a stream has all its work on one; else nothing is to wait for exchanges.
    const bool by_backend = comm_->capabilities().stream_collectives;
    reduction_.emplace(*comm_, "norms", numbers, host_, op_, by_backend ? streams.exchange() : streams.compute());
  }

  bool started() const { return started_; }

  /// Collective; waits for nothing. After what streams.compute() has been given. The numbers stay as they are until
  /// finish().
  void start(const Streams<ExecutionSpace>& streams) {
    reduction_->start(streams.compute());
    if (reduction_->stream_ordered()) arrived_.record(streams.exchange());
    started_ = true;
  }

  /// Collective; waits for this reduction, not for what the streams have been given since. The results, valid until the
  /// next start().
  std::span<const Number> finish() {
    arrived_.wait();
    reduction_->finish();
    started_ = false;
    return {host_.data(), host_.extent(0)};
  }

 private:
  using Host = Kokkos::View<Number*, device::PinnedSpace>;

  const comm::Communicator* comm_;
  comm::ReduceOp op_;
  Host host_;
  std::optional<comm::Reduction<Host, Numbers>> reduction_;
  device::Event<ExecutionSpace> arrived_; ///< where the backend reduces on the stream
  bool started_ = false;
};

/// The norms of a run's steps over all ranks. On a host each is known when its step is. A device leaves this rank's
/// parts in slots, which travel in batches and are read a batch later, so that no step waits for the host, nor the host
/// for a step that is not long done. So do parts of exact sums, on a host one by one.
template <class ExecutionSpace>
class DeferredNorms {
 public:
  /// The most norms that travel together.
  static constexpr int most_together = 64;

  /// Local; `comm` must outlive this.
  DeferredNorms(const comm::Communicator& comm, Norm kind, SumKind sums = SumKind::any_order)
      : comm_(&comm), kind_(kind), exact_(exactly_summed(kind, sums)),
        parts_("stepping/norm slots", on_device && !exact_ ? 2 * most_together : 0),
        accumulators_("stepping/norm slots", exact_ ? 2 * most_together * sums::length : 0),
        next_("stepping/next norm slot", in_slots() ? 1 : 0), batches_{Batch(comm, kind), Batch(comm, kind)} {}

  /// Whether steps leave the parts of norms in slots.
  bool in_slots() const { return on_device || exact_; }

  /// Collective; waits for the device. Forgets all norms, which have been read. So many travel together from now on; 1
  /// if each is asked for soon, and on a host.
  void begin(int batch, const Streams<ExecutionSpace>& streams) {
    batch_ = on_device ? batch : 1;
    if (in_slots() && batch_ != planned_) {
      for (const int b : {0, 1}) {
        if (exact_)
          batches_[b].exact.plan(streams, slots_of(b, accumulators_, sums::length));
        else
          batches_[b].fast.plan(streams, slots_of(b, parts_, 1));
      }
      planned_ = batch_;
    }
    if (in_slots()) Kokkos::deep_copy(next_, 0);
    steps_.clear();
    values_.clear();
    for (auto& b : batches_) b.count = 0;
    filling_ = 0;
  }

  /// Local, after begin(). Norms that are known already, of the steps before.
  void go_on_after(std::vector<std::int64_t> steps, std::vector<double> values) {
    steps_ = std::move(steps);
    values_ = std::move(values);
  }

  /// How many norms travel together.
  int batch() const { return batch_; }

  /// How many steps after its own a norm should be read.
  static constexpr std::int64_t lag = on_device ? 1 : 0;

  /// Where the parts of norms go, if they go to slots: the accumulators of exact sums, or numbers.
  NormSlots slots() const { return {parts_.data(), next_.data(), 2 * batch_, accumulators_.data()}; }

  /// Collective. Without slots: `part` is this rank's part of the step's norm.
  void add(std::int64_t step, double part) {
    steps_.push_back(step);
    values_.push_back(from_parts(kind_, comm::allreduce(*comm_, part, reduce_op(kind_))));
  }

  /// Collective. Slots: there is room for so many more in the batch; to be called before they are queued.
  void make_room(int count, Streams<ExecutionSpace>& streams) {
    if (batches_[filling_].count + count > batch_) send(streams);
  }

  /// Collective. Slots: the next one is filled by work on compute().
  void add(std::int64_t step, Streams<ExecutionSpace>& streams) {
    steps_.push_back(step);
    if (++batches_[filling_].count == batch_) send(streams);
  }

  /// Collective. All norms of steps up to this one are known on return.
  void read(std::int64_t step, Streams<ExecutionSpace>& streams) {
    while (values_.size() < steps_.size() && steps_[values_.size()] <= step) {
      const int oldest = started(1 - filling_) ? 1 - filling_ : filling_;
      if (!started(oldest)) send(streams);
      receive(oldest);
    }
  }

  /// Collective. The steps after this one, up to which norms are known, do not count. Before anything is added again
  /// comes begin().
  void forget_after(std::int64_t step) {
    for (const int b : {0, 1}) {
      if (started(b)) reduction(b, [](auto& r) { r.finish(); });
      batches_[b].count = 0;
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
  template <class Number>
  using Slots = Kokkos::View<Number*, typename ExecutionSpace::memory_space>;

  /// Norms that travel together; one of the reductions is used.
  struct Batch {
    Batch(const comm::Communicator& comm, Norm kind) : fast(comm, reduce_op(kind)), exact(comm, comm::ReduceOp::sum) {}

    int count = 0;
    BatchReduction<ExecutionSpace, double> fast;
    BatchReduction<ExecutionSpace, std::int64_t> exact;
  };

  int place(int batch) const { return batch * batch_; }

  /// A batch's part of all slots, each of so many numbers.
  template <class Number>
  Slots<Number> slots_of(int b, const Slots<Number>& all, int numbers) const {
    return Kokkos::subview(all, std::pair<int, int>(place(b) * numbers, place(b + 1) * numbers));
  }

  template <class Action>
  auto reduction(int b, const Action& action) {
    if (exact_) return action(batches_[b].exact);
    return action(batches_[b].fast);
  }
  bool started(int b) const { return exact_ ? batches_[b].exact.started() : batches_[b].fast.started(); }

  /// The batch that is being filled goes on its way, in full though it may not be, and the other one is filled next.
  void send(Streams<ExecutionSpace>& streams) {
    const auto& batch = batches_[filling_];
    reduction(filling_, [&](auto& r) { r.start(streams); });
    filling_ = 1 - filling_;
    if (batch.count < batch_) set_next(streams.compute(), slots(), place(filling_));
    if (started(filling_)) receive(filling_);
  }

  void receive(int b) {
    auto& batch = batches_[b];
    if (exact_) {
      const std::int64_t* part = batch.exact.finish().data();
      for (int n = 0; n < batch.count; ++n, part += sums::length)
        values_.push_back(from_parts(kind_, sums::rounded(part)));
    } else {
      for (const double part : batch.fast.finish().first(static_cast<std::size_t>(batch.count)))
        values_.push_back(from_parts(kind_, part));
    }
    batch.count = 0;
  }

  const comm::Communicator* comm_;
  Norm kind_;
  bool exact_;
  Slots<double> parts_;              ///< no slots, unless these are used
  Slots<std::int64_t> accumulators_; ///< the same
  Slots<int> next_;                  ///< the slot that is next
  int batch_ = 1;
  int planned_ = 0; ///< the batch that the reductions were made for
  std::array<Batch, 2> batches_;
  int filling_ = 0;
  std::vector<std::int64_t> steps_;
  std::vector<double> values_;
};

} // namespace kontor::stepping

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/comm/views/executor.hpp>
#include <kontor/comm/views/predefined_op.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace kontor::comm {
namespace detail {
class RepeatedReduction;
}

/// What a Reduction is without the types of its Views; compiled once.
class ReductionBase {
 public:
  /// The one moved from takes part in nothing.
  ReductionBase(ReductionBase&&) noexcept;
  /// Ends the reduction that was there, collectively where a step is under way.
  ReductionBase& operator=(ReductionBase&&) noexcept;

  /// Collective, in the same order as all other collective calls, which check level `cross_rank` verifies; ordered
  /// after the work that the instance has been given. `in` may be read but not written before finish(), `out` neither.
  /// Throws CallError in a step, after a step that failed, and if this was moved from; Error if MPI or the backend
  /// reports one.
  void start();
  /// Collective like start(). On return the result is valid for what the instance is given from then on; host code that
  /// reads it fences first, except in host memory without a device. At check level `cross_rank` a wait lasts
  /// Options::timeout at most. Throws CallError without start().
  void finish();
  /// Local. Lets MPI go on with what has been started; without effect where a device reduces or copies.
  void progress();
  /// Local. Throws Error if a step has gone wrong on the device since, which no other call tells a program that replays
  /// steps from a CapturedGraph.
  void poll();
  /// Whether start() and finish() only queue work, so that they can be recorded by a CapturedGraph.
  bool stream_ordered() const;

 protected:
  /// Collective. `views` own the memory.
  ReductionBase(const Communicator&, std::string label, const Buffer& in, const Buffer& out, ReduceOp,
                std::shared_ptr<const Executor>, std::shared_ptr<void> views);
  /// Collective in the middle of a step, unless an exception is passing.
  ~ReductionBase();
  /// start() after the work of another instance of the same space.
  void start_after(const void* instance);
  /// finish() for that of another instance.
  void finish_before(const void* instance);

 private:
  detail::RepeatedReduction& state() const;
  std::unique_ptr<detail::RepeatedReduction> state_; ///< null: moved from
};

/// A repeatable reduction of Views over all ranks: made once, then start() and finish() each step, with anything else
/// in between. Any number of values, each combined with those at its place on the other ranks.
///
/// Views in host memory: start() calls MPI_Iallreduce and finish() waits for it. Few MPIs go on by themselves in
/// between; others do whenever MPI is called, as by progress(). Views in device memory: where the backend has the
/// reduction by itself (`nccl`; `ipc` up to 32 KiB; not with `auto`), start() queues it on the instance and nothing
/// waits on the host; elsewhere, on path `direct` too, start() queues a copy into pinned memory, finish() waits for
/// that, calls MPI_Allreduce and queues the copy back.
///
/// A step allocates nothing. Shares ownership of its Views, as an Exchange does, and ends as one does: in the middle of
/// a step together with all ranks. Host handle: not copyable.
///
/// `View` is the result's type, `In` that of what each rank gives. Where `In` lies in device memory, the result lies
/// there too or in pinned host memory.
template <ViewType View, ViewType In = View>
class Reduction : public ReductionBase {
 public:
  using value_type = typename View::non_const_value_type; ///< of both Views
  using execution_space = typename In::execution_space;   ///< of the instance
  static_assert(detail::check_elements<View>() && detail::check_elements<In>() && detail::check_not_const<View>());
  static_assert(std::is_same_v<value_type, typename In::non_const_value_type>,
                "kontor::comm: both Views of a Reduction must have the same scalar type");
  static_assert(std::is_same_v<typename View::memory_space, typename In::memory_space> ||
                    Kokkos::SpaceAccessibility<execution_space, typename View::memory_space>::accessible,
                "kontor::comm: the result of a Reduction of device memory must lie in device memory or in "
                "pinned host memory");

  /// Collective over the communicator. In place: `values` becomes the combination of all ranks' `values`. `label` names
  /// the reduction in errors. Work on the device is queued on `instance`, which outlives this. Throws AgreedError on
  /// every rank if labels, extents, scalars, operations or layouts differ between ranks, or if MPI does not define the
  /// operation for the scalar.
  Reduction(const Communicator& comm, std::string label, const View& values, ReduceOp op,
            const execution_space& instance = {}) requires std::is_same_v<View, In>
      : Reduction(comm, std::move(label), values, values, op, instance) {}

  /// Collective over the communicator. The same for `out`, which becomes the combination of all ranks' `in`.
  Reduction(const Communicator& comm, std::string label, const In& in, const View& out, ReduceOp op,
            const execution_space& instance = {})
      : ReductionBase(comm, std::move(label), to_buffer(in), to_buffer(out), op, executor_of(instance),
                      detail::keep(std::pair<In, View>(in, out))) {}

  using ReductionBase::finish;
  using ReductionBase::start;
  /// Collective. start() after the work that `caller` has been given.
  void start(const execution_space& caller) { start_after(&caller); }
  /// Collective. finish() for what `caller` is given from then on.
  void finish(const execution_space& caller) { finish_before(&caller); }
};

} // namespace kontor::comm

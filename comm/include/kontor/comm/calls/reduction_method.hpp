// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/repeated_allreduce.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/views/layout.hpp>
#include <kontor/comm/views/pack.hpp>
#include <kontor/comm/views/view_buffer.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/gpu.hpp>
#include <kontor/device/streams.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// How a Reduction goes.
namespace kontor::comm::detail {

/// Where the elements are combined.
enum class ReducedIn : std::uint8_t {
  host,   ///< by MPI, where the Views lie or in a copy where they are strided
  pinned, ///< by MPI, in host memory that the device copies to and from
  stream  ///< by the backend, in device memory
};

/// Where, and by whom if not by MPI.
struct ReductionRoute {
  ReducedIn where = ReducedIn::host;
  StreamCollectives* collectives = nullptr; ///< the communicator's
};

/// Collective where it is the backend's first reduction. Of so many elements. Open MPI has no non-blocking reductions
/// of device memory, so MPI never gets any, whatever the path.
ReductionRoute reduction_route(const Communicator&, MemoryKind, Scalar, ReduceOp, std::int64_t elements);

/// What a Reduction repeats: its Views, copies of them in memory where they can be reduced, and the reduction. All work
/// on a device is queued on one instance.
template <class In, class Out>
class ReductionMethod {
 public:
  using value_type = typename Out::non_const_value_type;
  using Space = typename In::execution_space;

  /// Collective: the ranks agree on the reduction.
  ReductionMethod(const Communicator& comm, const std::string& label, const In& in, const Out& out, ReduceOp op,
                  const Space& instance, ReductionRoute route)
      : comm_(comm.share()), in_(in), out_(out), op_(op), instance_(instance), route_(route) {
    const auto order = storage_order(shape_of(out_));
    const auto count = static_cast<std::int64_t>(out_.size());
    const auto lies_well = [&](const auto& view) {
      const bool like_in = memory_of<std::decay_t<decltype(view)>>() == memory_of<In>();
      const bool right_memory = route_.where == ReducedIn::host || like_in == (route_.where == ReducedIn::stream);
      return right_memory && is_contiguous(shape_of(view), order);
    };
    result_ = to_buffer(out_);
    if (!lies_well(out_)) {
      const auto properties = Kokkos::view_alloc(std::string("comm/reduced"), Kokkos::WithoutInitializing);
      const auto bytes = static_cast<std::size_t>(count) * sizeof(value_type);
      if (route_.where == ReducedIn::stream)
        device_ = Device(properties, bytes);
      else
        pinned_ = Pinned(properties, bytes);
      result_.data = route_.where == ReducedIn::stream ? data_of(device_) : data_of(pinned_);
      copy_out_ = Packs({{data_of(out_), result_.data, loop_nest(shape_of(out_), order), sizeof(value_type)}});
    }
    result_.shape = {1, {count, 1, 1, 1, 1, 1, 1, 1}, {1}};
    if (!lies_well(in_)) {
      copy_in_ = Packs({{data_of(in_), result_.data, loop_nest(shape_of(in_), order), sizeof(value_type)}});
    } else if (data_of(in_) != result_.data) {
      given_ = data_of(in_);
    }
    if (route_.where == ReducedIn::stream) {
      own_ = route_.collectives->for_one_stream(out_.size() * sizeof(value_type));
      if (own_) route_.collectives = own_.get();
      connect();
    } else {
      by_mpi_.emplace(label, given_, result_, op_);
    }
  }

  /// Collective. Begins after the work that `caller` has been given.
  void start(const Space& caller) {
    step_ = Step::failed; // unless this returns
    if (is_other(caller)) {
      given_event_.record(caller);
      given_event_.wait_for(instance_);
    }
    copy_in_.template run<PackDirection::pack>(instance_);
    if (route_.where == ReducedIn::stream) {
      route_.collectives->allreduce(device::native_stream(instance_), given_ ? given_ : result_.data, result_, op_);
      copy_out_.template run<PackDirection::unpack>(instance_);
    } else if (route_.where == ReducedIn::pinned) {
      copied_.record(instance_);
    } else {
      device::fence(instance_, "comm/packed");
      by_mpi_->start(comm_);
    }
    step_ = Step::under_way;
  }

  /// Local.
  void progress() {
    if (route_.where == ReducedIn::host) by_mpi_->progress();
  }

  /// Collective. The result is valid for what `caller` is given from now on.
  void finish(const Space& caller) {
    step_ = Step::failed; // unless this returns
    complete();
    if (is_other(caller)) {
      done_.record(instance_);
      done_.wait_for(caller);
    }
    step_ = Step::none;
  }

  void poll() {
    if (route_.where == ReducedIn::stream) route_.collectives->poll();
  }
  bool stream_ordered() const { return route_.where == ReducedIn::stream; }
  bool under_way() const { return step_ == Step::under_way; }
  bool failed() const { return step_ == Step::failed; }

  /// Ends a step that was not finished: collective. At once where the step has failed or this rank ends alone: what MPI
  /// may still use is leaked then.
  static void complete_or_leak(std::unique_ptr<ReductionMethod> method) noexcept {
    if (method->step_ == Step::none) return;
    const auto comm = method->comm_.share();
    auto& internals = detail::internals(comm);
    if (method->under_way() && internals.ends_together()) {
      try {
        return method->complete();
      } catch (const std::exception&) { // the program ends; no rank waits for this one
      }
    }
    if (method->route_.where == ReducedIn::stream)
      return method->route_.collectives->abort(device::native_stream(method->instance_));
    { const auto not_leaked = std::move(method->comm_); }
    internals.leak_at_end();
    leak(std::move(method));
  }

 private:
  using Device = Kokkos::View<unsigned char*, typename In::memory_space>;
  using Pinned = Kokkos::View<unsigned char*, device::PinnedSpace>;
  using Packs = PackList<Space>;
  enum class Step : std::uint8_t { none, under_way, failed };

  bool is_other(const Space& caller) const { return device::native_stream(caller) != device::native_stream(instance_); }

  void complete() {
    if (route_.where == ReducedIn::stream) return poll();
    if (route_.where == ReducedIn::pinned) {
      copied_.wait();
      by_mpi_->run(comm_);
    } else {
      by_mpi_->finish(comm_);
    }
    copy_out_.template run<PackDirection::unpack>(instance_);
  }

  /// The first reduction of a size makes connections, which a recording of the stream would not take.
  void connect() {
    const Device scratch("comm/scratch", out_.size() * sizeof(value_type));
    auto buffer = result_;
    buffer.data = data_of(scratch);
    route_.collectives->allreduce(device::native_stream(instance_), buffer.data, buffer, op_);
    device::fence(instance_, "comm/connected");
  }

  Communicator comm_;
  In in_;
  Out out_;
  ReduceOp op_;
  Space instance_;
  ReductionRoute route_;
  std::unique_ptr<StreamCollectives> own_; ///< where the route's has some for one stream
  Step step_ = Step::none;
  Device device_;
  Pinned pinned_;
  Packs copy_in_;
  Packs copy_out_;
  const void* given_ = nullptr; ///< null: the elements are at `result_` before
  Buffer result_;               ///< in one piece
  device::Event<Space> given_event_;
  device::Event<Space> copied_;
  device::Event<Space> done_;
  std::optional<RepeatedAllreduce> by_mpi_;
};

/// Of a ReductionMethod: calls its complete_or_leak().
struct CompleteOrLeak {
  template <class Method>
  void operator()(Method* method) const noexcept {
    Method::complete_or_leak(std::unique_ptr<Method>(method));
  }
};

} // namespace kontor::comm::detail

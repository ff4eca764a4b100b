// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reductions/repeated_reduction.hpp"

#include "base/agree.hpp"
#include "base/deadline.hpp"
#include "checks/description.hpp"
#include "collectives/perform.hpp"
#include "communicator/internals.hpp"
#include "views/overlap.hpp"

#include <kontor/comm/reduction.hpp>
#include <kontor/comm/views/layout.hpp>

namespace kontor::comm {
namespace detail {
namespace {

/// Whether both are one View.
bool is_in_place(const Buffer& in, const Buffer& out) {
  return in.data == out.data && in.shape.strides == out.shape.strides;
}

/// What is wrong as far as this rank can see.
Problem reduction_problem(const Communicator& comm, const Buffer& in, const Buffer& out, ReduceOp op) {
  if (mpi::reduction(op, out.scalar) == MPI_OP_NULL)
    return fmt::format("{} is not defined for {}", to_string(op), comm::to_string(out.scalar));
  if (in.shape.rank != out.shape.rank || in.shape.extents != out.shape.extents)
    return fmt::format("{}, but {}", to_string(in), to_string(out));
  if (!is_in_place(in, out) && element_count(out.shape) > 0 && share_memory(in, out))
    return fmt::format("{} and {} share memory; there is a form in place, of one View", to_string(in), to_string(out));
  if (overlaps_itself(out.shape)) return fmt::format("{}: {}", to_string(out), overlap_words(out.shape));
  for (const auto* view : {&in, &out}) {
    if (!view->data && element_count(view->shape) > 0) return fmt::format("{} {}", to_string(*view), no_memory);
    if (comm.options().packing == Packing::none && !is_contiguous(view->shape, storage_order(view->shape)))
      return strided_words(*view);
  }
  return std::nullopt;
}

CollectiveCall call_of(const std::string& label, const Buffer& in, const Buffer& out, ReduceOp op) {
  const auto subject = in.data == out.data ? fmt::format("View '{}'", out.label)
                                           : fmt::format("View '{}' into View '{}'", in.label, out.label);
  const auto* const memory = in.memory == MemoryKind::device ? " in device memory" : "";
  return {fmt::format("reduction '{}'", label), subject, {equal_words(out) + memory, to_string(op)}};
}

/// Collective. Compares what the ranks are about to make. Throws AgreedError on every rank unless all make the same
/// reduction, with elements of equal extents, scalar, order and kind of memory, or if it is not available: MPI does not
/// define the operation, the two Views differ in extents or share memory, one of them has elements but no memory, or is
/// strided and packing is 'none'.
void agree_on_reduction(const Communicator& comm, const std::string& label, const Buffer& in, const Buffer& out,
                        ReduceOp op) {
  auto call = call_of(label, in, out, op);
  auto problem = reduction_problem(comm, in, out, op);
  if (verified(comm)) {
    call.problem = std::move(problem);
    return check_agreement(comm, call);
  }
  if (problem) problem = fmt::format("on rank {}: {}: {}", comm.rank(), comm::to_string(call), *problem);
  call.subject.clear();
  const auto other = mpi::difference(comm.native(), comm::to_string(call));
  comm.agree(problem ? problem : other);
}

/// Collective where it is the backend's first reduction. Open MPI has no non-blocking reductions of device memory, so
/// MPI never gets any, whatever the path.
ReductionRoute route_of(const Communicator& comm, const Buffer& in, ReduceOp op) {
  if (in.memory == MemoryKind::host) return {};
  if (auto* collectives = internals(comm).backend().stream_collectives();
      collectives && collectives->reduces(in.scalar, op, element_count(in.shape)))
    return {AccessibleTo::stream, collectives};
  return {AccessibleTo::host};
}

} // namespace

RepeatedReduction::RepeatedReduction(const Communicator& comm, std::string label, const Buffer& in, const Buffer& out,
                                     ReduceOp op, std::shared_ptr<const Executor> executor, ReductionRoute route,
                                     std::shared_ptr<void> views)
    : comm_(comm.share()), label_(std::move(label)), op_(op), executor_(std::move(executor)), views_(std::move(views)),
      route_(route), result_(out), type_(mpi::element(out.scalar).type), mpi_op_(mpi::reduction(op, out.scalar)) {
  const auto elements = element_count(out.shape);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (!stream_ordered() && elements > most)
    throw AgreedError(
        fmt::format("reduction '{}': the {} elements of View '{}' are more than the {} that one reduction "
                    "takes; reduce subviews",
                    label_, elements, out.label, most));
  count_ = static_cast<int>(elements);
  const auto order = storage_order(out.shape);
  const auto lowered = [&](const Buffer& view) {
    Lowered memory(view.data, elements, view.scalar);
    const bool lies_there = route_.where == AccessibleTo::mpi || (view.memory == in.memory) == stream_ordered();
    memory.place(*executor_, view, order, lies_there,
                 route_.where == AccessibleTo::host ? cached(comm_).lowering.pool : nullptr);
    return memory;
  };
  out_ = lowered(out);
  if (!is_in_place(in, out)) in_ = lowered(in);
  result_.data = out_.data();
  result_.shape = row_shape(elements);
  if (stream_ordered()) connect();
}

/// The first reduction of a size makes connections, which a recording of the stream would not take.
void RepeatedReduction::connect() {
  const auto bytes = static_cast<std::size_t>(byte_count(result_));
  own_ = route_.collectives->for_one_stream(bytes);
  if (own_) route_.collectives = own_.get();
  const auto memory = executor_->allocate(Room::space, bytes, Contents::zeros);
  auto scratch = result_;
  scratch.data = memory.get();
  route_.collectives->allreduce(executor_->stream(), scratch.data, scratch, op_);
  executor_->fence("comm/connected");
}

RepeatedReduction::~RepeatedReduction() {
  if (step_ == Step::none) return;
  auto& internals = detail::internals(comm_);
  if (step_ == Step::under_way && internals.ends_together()) {
    try {
      complete();
      return;
    } catch (const std::exception&) { // the program ends; no rank waits for this one
    }
  }
  if (stream_ordered()) {
    route_.collectives->abort(executor_->stream());
    return;
  }
  internals.leak_at_end();
  leak(std::tuple(std::move(views_), std::move(in_), std::move(out_), std::move(executor_)));
}

void RepeatedReduction::fail(const char* why) const { throw CallError(fmt::format("reduction '{}': {}", label_, why)); }

void RepeatedReduction::check_order(const char* step) const {
  if (verified(comm_)) [[unlikely]]
    check_agreement(comm_, {.operation = step, .fields = {"reduction '" + label_ + "'"}});
}

void RepeatedReduction::start(const void* caller) {
  if (step_ != Step::none) [[unlikely]]
    fail(step_ == Step::under_way ? "start() again before finish()"
                                  : "start() after a step that failed; make the Reduction anew");
  check_order("start");
  const device::Region region("comm/post");
  step_ = Step::failed; // unless this returns
  if (caller) executor_->follow(caller);
  const auto& given = in_ ? *in_ : out_;
  given.queue(*executor_, PackDirection::pack);
  if (stream_ordered()) {
    route_.collectives->allreduce(executor_->stream(), given.data(), result_, op_);
    out_.queue(*executor_, PackDirection::unpack);
  } else if (route_.where == AccessibleTo::host) {
    executor_->record();
  } else {
    executor_->fence("comm/packed");
    begin();
  }
  step_ = Step::under_way;
}

void RepeatedReduction::finish(const void* caller) {
  if (step_ != Step::under_way) [[unlikely]]
    fail("finish() without start()");
  check_order("finish");
  const device::Region region("comm/wait");
  step_ = Step::failed; // unless this returns
  complete();
  if (caller) executor_->precede(caller);
  step_ = Step::none;
}

void RepeatedReduction::complete() {
  if (stream_ordered()) return poll();
  if (route_.where == AccessibleTo::mpi) {
    wait();
  } else {
    executor_->wait();
    if (mpi::timeout(comm_.options()) > 0) {
      begin();
      wait();
    } else {
      check(MPI_Allreduce(given(), result_.data, count_, type_, mpi_op_, comm_.native()), "MPI_Allreduce");
    }
  }
  out_.queue(*executor_, PackDirection::unpack);
}

void RepeatedReduction::begin() {
#ifdef KONTOR_SMPI // its MPI_Iallreduce sends from every rank to every rank, which no MPI does; so this waits
  check(MPI_Allreduce(given(), result_.data, count_, type_, mpi_op_, comm_.native()), "MPI_Allreduce");
#else
  check(MPI_Iallreduce(given(), result_.data, count_, type_, mpi_op_, comm_.native(), &request_), "MPI_Iallreduce");
#endif
}

void RepeatedReduction::progress() {
  if (route_.where != AccessibleTo::mpi) return;
  int done = 0;
  check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
}

void RepeatedReduction::wait() {
  const double timeout = mpi::timeout(comm_.options());
  if (timeout == 0) return check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  const auto done = [&] {
    int all = 0;
    check(MPI_Test(&request_, &all, MPI_STATUS_IGNORE), "MPI_Test");
    return all != 0;
  };
  mpi::wait_within(timeout, comm_.native(), fmt::format("reduction '{}'", label_), done, [&] {
    internals(comm_).leak_at_end();
    return "the other ranks; one of them is elsewhere";
  });
}

void RepeatedReduction::poll() {
  if (stream_ordered()) route_.collectives->poll();
}

void RepeatedReduction::check(int code, const char* mpi_function) const {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw MpiError(fmt::format("reduction '{}': {} of View '{}' failed: {}", label_, mpi_function, result_.label,
                               mpi::error_text(code)));
}

} // namespace detail

ReductionBase::ReductionBase(const Communicator& comm, std::string label, const Buffer& in, const Buffer& out,
                             ReduceOp op, std::shared_ptr<const Executor> executor, std::shared_ptr<void> views) {
  const device::Region region("comm/commit");
  detail::agree_on_reduction(comm, label, in, out, op);
  const auto route = detail::route_of(comm, in, op);
  state_ = std::make_unique<detail::RepeatedReduction>(comm, std::move(label), in, out, op, std::move(executor), route,
                                                       std::move(views));
}

ReductionBase::ReductionBase(ReductionBase&&) noexcept = default;
ReductionBase& ReductionBase::operator=(ReductionBase&&) noexcept = default;
ReductionBase::~ReductionBase() = default;

detail::RepeatedReduction& ReductionBase::state() const {
  if (!state_) [[unlikely]]
    throw CallError("start() or finish() on a Reduction that was moved from");
  return *state_;
}

void ReductionBase::start_after(const void* instance) { state().start(instance); }
void ReductionBase::finish_before(const void* instance) { state().finish(instance); }
void ReductionBase::start() { state().start(); }
void ReductionBase::finish() { state().finish(); }
void ReductionBase::progress() { state().progress(); }
void ReductionBase::poll() { state().poll(); }
bool ReductionBase::stream_ordered() const { return state().stream_ordered(); }

} // namespace kontor::comm

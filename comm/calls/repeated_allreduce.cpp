// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/deadline.hpp"
#include "calls/perform.hpp"
#include "views/overlap.hpp"

#include <kontor/comm/calls/reduction_method.hpp>
#include <kontor/comm/calls/repeated_allreduce.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/views/layout.hpp>

namespace kontor::comm::detail {
namespace {

/// What is wrong as far as this rank can see.
Problem reduction_problem(const Communicator& comm, const Buffer& in, const Buffer& out, ReduceOp op) {
  if (mpi::reduction(op, out.scalar) == MPI_OP_NULL)
    return fmt::format("{} is not defined for {}", to_string(op), comm::to_string(out.scalar));
  if (in.shape.rank != out.shape.rank || in.shape.extents != out.shape.extents)
    return fmt::format("View '{}' is {}, but View '{}' is {}", in.label, extents_to_string(in.shape), out.label,
                       extents_to_string(out.shape));
  const bool in_place = in.data == out.data && in.shape.strides == out.shape.strides;
  if (!in_place && element_count(out.shape) > 0 && share_memory(in, out))
    return fmt::format("View '{}' and View '{}' share memory; there is a form in place, of one View", in.label,
                       out.label);
  if (overlaps_itself(out.shape))
    return fmt::format("View '{}', {}: {}", out.label, extents_to_string(out.shape), overlap_words(out.shape));
  for (const auto* view : {&in, &out}) {
    if (!view->data && element_count(view->shape) > 0)
      return fmt::format("View '{}' has elements but no memory (its data pointer is null)", view->label);
    if (comm.options().packing == Packing::none && !is_contiguous(view->shape, storage_order(view->shape)))
      return fmt::format("View '{}', {}, does not lie in one piece, and packing is 'none'; choose packing "
                         "'kernel', or a contiguous View",
                         view->label, extents_to_string(view->shape));
  }
  return std::nullopt;
}

CollectiveCall call_of(const std::string& label, const Buffer& in, const Buffer& out, ReduceOp op) {
  const auto subject = in.data == out.data ? fmt::format("View '{}'", out.label)
                                           : fmt::format("View '{}' into View '{}'", in.label, out.label);
  const auto* const memory = in.memory == MemoryKind::device ? " in device memory" : "";
  return {fmt::format("reduction '{}'", label), subject, {equal_words(out) + memory, to_string(op)}};
}

/// What differs between this rank's call and that of rank 0, in words.
Problem difference(const Communicator& comm, const CollectiveCall& call) {
  std::array<char, 512> first{};
  auto common = call;
  common.subject.clear();
  const auto mine = comm::to_string(common).substr(0, first.size() - 1);
  if (comm.rank() == 0) std::ranges::copy(mine, first.begin());
  mpi::check(MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, comm.native()), "MPI_Bcast");
  if (mine == first.data()) return std::nullopt;
  return fmt::format("rank 0 makes {}, but rank {} makes {}", first.data(), comm.rank(), mine);
}

} // namespace

void agree_on_reduction(const Communicator& comm, const std::string& label, const Buffer& in, const Buffer& out,
                        ReduceOp op) {
  auto call = call_of(label, in, out, op);
  auto problem = reduction_problem(comm, in, out, op);
  if (detail::internals(comm).checking_calls() != MPI_COMM_NULL) {
    call.problem = problem;
    return check_agreement(comm, call);
  }
  if (problem) problem = fmt::format("on rank {}: {}: {}", comm.rank(), comm::to_string(call), *problem);
  const auto other = difference(comm, call);
  comm.agree(problem ? problem : other);
}

ReductionRoute reduction_route(const Communicator& comm, MemoryKind memory, Scalar scalar, ReduceOp op,
                               std::int64_t elements) {
  if (memory == MemoryKind::host) return {};
  if (auto* collectives = detail::internals(comm).backend().stream_collectives();
      collectives && collectives->reduces(scalar, op, elements))
    return {ReducedIn::stream, collectives};
  return {ReducedIn::pinned};
}

RepeatedAllreduce::RepeatedAllreduce(std::string label, const void* in, const Buffer& out, ReduceOp op)
    : label_(std::move(label)), in_(in), out_(out), type_(mpi::element(out.scalar).type),
      op_(mpi::reduction(op, out.scalar)) {
  const auto elements = element_count(out_.shape);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (elements > most)
    throw AgreedError(
        fmt::format("reduction '{}': the {} elements of View '{}' are more than the {} that one reduction "
                    "takes; reduce subviews",
                    label_, elements, out_.label, most));
  count_ = static_cast<int>(elements);
}

void RepeatedAllreduce::start(const Communicator& comm) {
#ifdef KONTOR_SMPI // its MPI_Iallreduce sends from every rank to every rank, which no MPI does; so this waits
  check(MPI_Allreduce(given(), out_.data, count_, type_, op_, comm.native()), "MPI_Allreduce");
#else
  check(MPI_Iallreduce(given(), out_.data, count_, type_, op_, comm.native(), &request_), "MPI_Iallreduce");
#endif
}

void RepeatedAllreduce::run(const Communicator& comm) {
  if (mpi::timeout(comm.options()) > 0) {
    start(comm);
    return finish(comm);
  }
  check(MPI_Allreduce(given(), out_.data, count_, type_, op_, comm.native()), "MPI_Allreduce");
}

void RepeatedAllreduce::progress() {
  int done = 0;
  check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
}

void RepeatedAllreduce::finish(const Communicator& comm) {
  const double timeout = mpi::timeout(comm.options());
  if (timeout == 0) return check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  const auto done = [&] {
    progress();
    return request_ == MPI_REQUEST_NULL;
  };
  mpi::wait_within(timeout, comm.native(), fmt::format("reduction '{}'", label_), done, [&] {
    detail::internals(comm).leak_at_end();
    return "the other ranks; one of them is elsewhere";
  });
}

void RepeatedAllreduce::check(int code, const char* mpi_function) const {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw MpiError(fmt::format("reduction '{}': {} of View '{}' failed: {}", label_, mpi_function, out_.label,
                               mpi::error_text(code)));
}

} // namespace kontor::comm::detail

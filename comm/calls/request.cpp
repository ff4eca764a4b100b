// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks/checked.hpp"

#include <kontor/comm/calls/operation.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/error.hpp>

#include <fmt/format.h>

#include <cstdio>

namespace kontor::comm::detail {
namespace {

[[noreturn]] void fail_empty(const char* call) {
  throw CallError(fmt::format("{} on an empty Request: it was never begun, was moved from, or has given its "
                              "Views back already",
                              call));
}

} // namespace

Operation::Part& Operation::next_part(const Envelope& envelope, std::size_t view) {
  auto& part = parts_[count_++]; // as it was made: a Request is begun once
  part.envelope = envelope;
  part.view = view;
  state_ = State::active;
  return part;
}

void Operation::begin(const Envelope& envelope, void* data, const mpi::Payload& payload, std::size_t view) {
  auto& part = next_part(envelope, view);
  const bool sends = !part.receives();
  if (has_timeout() && envelope.peer != no_rank) {
    const auto what = buffer(view);
    const auto mine = describe(comm_->rank(), envelope.tag, what);
    part.checked = checked_message(*comm_, envelope, what, data, payload, mine);
    return;
  }
  const auto comm = detail::internals(*comm_).cached().comm;
  const int peer = mpi_rank(envelope.peer);
  const int count = data ? payload.count : 0; // null: to or from no_rank
  const int code = sends ? MPI_Isend(data, count, payload.type, peer, envelope.tag, comm, &part.request)
                         : MPI_Irecv(data, count, payload.type, peer, mpi_tag(envelope.tag), comm, &part.request);
  if (code == MPI_SUCCESS) [[likely]]
    return;
  fail(part, code, sends ? "MPI_Isend" : "MPI_Irecv");
  throw_problem();
}

void Operation::fail(Part& part, int code, const char* mpi_function) {
  part.request = MPI_REQUEST_NULL;
  try {
    fail_message(code, mpi_function, part.envelope, buffer(part.view));
  } catch (const MpiError&) {
    keep_problem(std::current_exception());
  }
}

void Operation::keep_problem(std::exception_ptr problem) {
  if (!problem_) problem_ = std::move(problem);
}

void Operation::fail_timeout(const Part& part) const {
  const auto why = part.checked ? part.checked->missing() : std::string("the others have not joined in");
  detail::fail_timeout(*comm_, part.envelope, buffer(part.view), why);
}

bool Operation::mark_complete() {
  if (std::ranges::any_of(parts(), &Part::pending)) return false;
  if (!problem_) deliver();
  state_ = State::finished;
  return true;
}

void Operation::poll(Part& part) {
  if (part.checked) {
    const auto checked = std::exchange(part.checked, nullptr);
    try {
      if (checked->poll())
        complete(part, checked->status());
      else
        part.checked = checked;
    } catch (const Error&) {
      keep_problem(std::current_exception());
    }
  } else if (part.request != MPI_REQUEST_NULL) {
    int done = 0;
    MPI_Status status;
    const int code = MPI_Test(&part.request, &done, &status);
    if (code != MPI_SUCCESS) [[unlikely]]
      fail(part, code, "MPI_Test");
    else if (done)
      complete(part, status);
  }
}

bool Operation::poll() {
  const bool known = problem_ != nullptr;
  for (auto& part : parts()) poll(part);
  const bool complete = mark_complete();
  if (complete || !known) throw_problem();
  return complete;
}

void Operation::complete(Part& part, const MPI_Status& status) {
  part.request = MPI_REQUEST_NULL;
  if (!part.receives()) return;
  status_ = status;
  received_ = true;
}

MessageStatus Operation::status() const {
  if (!received_)
    throw CallError("status() on a Request that has received nothing: it is not complete, was moved from, or "
                    "receives no message");
  return MessageStatus(status_, has_timeout() ? sizeof(Description) : 0);
}

void Operation::complete() {
  if (state_ == State::empty) fail_empty("wait()");
  if (active() && count_ == 1 && !parts_[0].checked) [[likely]] {
    MPI_Status status;
    const int code = MPI_Wait(&parts_[0].request, &status);
    if (code != MPI_SUCCESS) [[unlikely]]
      fail(parts_[0], code, "MPI_Wait");
    else
      complete(parts_[0], status);
    mark_complete();
  } else {
    Pool(Until::complete, std::array<Operation*, 1>{this}).all();
  }
  throw_problem();
}

bool Operation::completes() {
  if (state_ == State::empty) fail_empty("test()");
  if (finished()) {
    throw_problem();
    return true;
  }
  if (has_timeout()) detail::internals(*comm_).checks()->progress();
  return poll();
}

void Operation::drop() noexcept {
  int finalized = 0;
  MPI_Finalized(&finalized);
  for (auto& part : parts()) {
    if (finalized || !part.pending()) continue;
    if (comm_->options().check != CheckLevel::off && std::uncaught_exceptions() == 0)
      fmt::print(stderr, "rank {}: {} of {} was dropped unfinished: {}; call wait() before\n", comm_->rank(),
                 to_string(part.envelope), to_string(buffer(part.view)),
                 part.receives() ? "it is cancelled" : "it goes on and keeps its Views");
    using Pair = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
    if (part.receives() && !part.checked) {
      mpi::take_back(part.request);
      continue;
    }
    const auto all = std::make_shared<Pair>(keep(), std::move(part.arrays));
    if (part.checked)
      part.checked->detach(*comm_, all);
    else
      detail::internals(*comm_).detach(part.request, all);
  }
  clear();
}

} // namespace kontor::comm::detail

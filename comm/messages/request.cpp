// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks/checked.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/messages/operation.hpp>
#include <kontor/comm/mpi_check.hpp>

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

void Operation::begin(const Envelope& envelope, void* data, const mpi::Payload& payload) {
  envelope_ = envelope;
  if (has_timeout() && envelope.peer != no_rank) {
    const auto what = buffer();
    checked_ = checked_message(*comm_, envelope, what, data, payload, describe(comm_->rank(), envelope.tag, what));
    state_ = State::active;
    return;
  }
  const auto comm = detail::cached(*comm_).comm;
  const int peer = mpi_rank(envelope.peer);
  const int count = data ? payload.count : 0; // null: to or from no_rank
  const int code = receives() ? MPI_Irecv(data, count, payload.type, peer, mpi_tag(envelope.tag), comm, &request_)
                              : MPI_Isend(data, count, payload.type, peer, envelope.tag, comm, &request_);
  state_ = State::active;
  if (code == MPI_SUCCESS) [[likely]]
    return;
  fail(code, receives() ? "MPI_Irecv" : "MPI_Isend");
  throw_problem();
}

void Operation::begun(const char* operation, MPI_Request request) {
  envelope_ = {.operation = operation};
  request_ = request;
  state_ = State::active;
}

void Operation::fail(int code, const char* mpi_function) {
  state_ = State::finished;
  try {
    fail_message(code, mpi_function, envelope_, buffer());
  } catch (const MpiError&) {
    problem_ = std::current_exception();
  }
}

void Operation::fail_timeout() const {
  if (!checked_) detail::internals(*comm_).leak_at_end();
  const auto why = checked_ ? checked_->missing() : std::string("the others have not joined in");
  detail::fail_timeout(*comm_, envelope_, buffer(), why);
}

bool Operation::poll() {
  if (checked_) {
    try {
      if (!checked_->poll()) return false;
      complete(checked_->status());
    } catch (const Error&) {
      problem_ = std::current_exception();
      state_ = State::finished;
    }
    checked_ = nullptr;
  } else {
    int done = 0;
    MPI_Status status;
    const int code = MPI_Test(&request_, &done, &status);
    if (code != MPI_SUCCESS) [[unlikely]]
      fail(code, "MPI_Test");
    else if (done)
      complete(status);
    else
      return false;
  }
  throw_problem();
  return true;
}

void Operation::complete(const MPI_Status& status) {
  state_ = State::finished;
  received_ = receives();
  if (received_) status_ = status;
  deliver();
}

MessageStatus Operation::status() const {
  if (!received_)
    throw CallError("status() on a Request that has received nothing: it is not complete, was moved from, or "
                    "receives no message");
  return MessageStatus(status_, has_timeout() ? sizeof(Description) : 0);
}

void Operation::complete() {
  if (state_ == State::empty) fail_empty("wait()");
  if (active() && has_timeout()) [[unlikely]] {
    Pool(std::array<Operation*, 1>{this}).wait_all();
  } else if (active()) {
    MPI_Status status;
    const int code = MPI_Wait(&request_, &status);
    if (code != MPI_SUCCESS) [[unlikely]]
      fail(code, "MPI_Wait");
    else
      complete(status);
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
  if (!mpi::finalized()) {
    if (comm_->options().check != CheckLevel::off && std::uncaught_exceptions() == 0)
      fmt::print(stderr, "rank {}: {} of {} was dropped unfinished: {}; call wait() before\n", comm_->rank(),
                 to_string(envelope_), to_string(buffer()),
                 receives() ? "it is cancelled" : "it goes on and keeps its Views");
    if (checked_)
      checked_->detach(*comm_, keep());
    else if (receives())
      mpi::take_back(request_);
    else
      detail::internals(*comm_).detach(request_, keep());
  }
  clear();
}

} // namespace kontor::comm::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/operation.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <iterator>

namespace kontor::comm::detail {

void Operation::finish() {
  deliver();
  state_ = State::finished;
}

void Operation::fail(std::size_t part, int code, const char* mpi_function) {
  state_ = State::empty;
  fail_message(code, mpi_function, parts_[part].envelope, buffer(parts_[part].view));
}

void Operation::complete() {
  if (state_ == State::empty)
    throw UsageError("wait() on an empty Request: it was never begun, was moved from, or has given its Views "
                     "back already");
  Operation* const self = this;
  wait_all({&self, 1});
}

bool Operation::completes() {
  if (state_ == State::empty)
    throw UsageError("test() on an empty Request: it was never begun, was moved from, or has given its Views "
                     "back already");
  for (std::size_t i = 0; i < count_ && active(); ++i) {
    int done = 0;
    const int code = MPI_Test(&parts_[i].request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) [[unlikely]]
      fail(i, code, "MPI_Test");
    if (!done) return false;
  }
  if (active()) finish();
  return true;
}

void Operation::drop(std::shared_ptr<void> keep) noexcept {
  state_ = State::empty;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  for (auto& part : std::span(parts_).first(count_)) {
    if (part.request == MPI_REQUEST_NULL) continue;
    const bool cancelled = part.envelope.way == Way::from;
    if (comm_->options().check != CheckLevel::off)
      fmt::print(stderr, "rank {}: {} is dropped unfinished: {}; wait() for it\n", comm_->rank(),
                 to_string(part.envelope),
                 cancelled ? "it is cancelled" : "it goes on, and its Views are kept until it is complete");
    if (cancelled) {
      MPI_Cancel(&part.request);
      MPI_Wait(&part.request, MPI_STATUS_IGNORE);
    } else {
      comm_->adopt(part.request, keep);
    }
  }
}

void wait_all(std::span<Operation* const> operations) {
  for (auto* operation : operations) {
    if (!operation->active()) continue;
    for (std::size_t i = 0; i < operation->count_; ++i) {
      const int code = MPI_Wait(&operation->parts_[i].request, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) [[unlikely]]
        operation->fail(i, code, "MPI_Wait");
    }
    operation->finish();
  }
}

} // namespace kontor::comm::detail

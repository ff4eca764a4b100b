// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/mpi/message_requests.hpp"

#include "backend/deadline.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <utility>

namespace kontor::comm::mpi {

MessageRequests::MessageRequests(const BackendContext& context, MessageSet messages)
    : comm_(context.comm), unsafe_to_free_(context.unsafe_to_free), timeout_(timeout(context.options)),
      messages_(std::move(messages)),
      requests_(messages_.receives.size() + messages_.sends.size(), MPI_REQUEST_NULL),
      statuses_(requests_.size()) {}

void MessageRequests::fail(int code, const char* operation, const Message& m) {
  *unsafe_to_free_ = true;
  fail_message(messages_.label, code, operation, m);
}

void MessageRequests::wait() {
  if (requests_.empty()) return;
  int code = MPI_SUCCESS;
  if (timeout_ == 0) {
    code = MPI_Waitall(size(), data(), statuses_.data());
  } else {
    int done = 0;
    const bool in_time = Deadline(timeout_).wait([&] {
      code = MPI_Testall(size(), data(), &done, statuses_.data());
      return done || code != MPI_SUCCESS;
    });
    if (!in_time) fail_timeout();
  }
  if (code != MPI_SUCCESS) [[unlikely]]
    fail_wait(code);
}

bool MessageRequests::test() {
  int done = 0;
  const int code = MPI_Testall(size(), data(), &done, statuses_.data());
  if (code != MPI_SUCCESS) [[unlikely]]
    fail_wait(code);
  return done != 0;
}

void MessageRequests::end() noexcept {
  if (ends_alone(*unsafe_to_free_))
    give_up();
  else
    MPI_Waitall(size(), data(), MPI_STATUSES_IGNORE);
}

bool MessageRequests::give_up() noexcept {
  if (finalized()) return true;
  *unsafe_to_free_ = true;
  const auto is_over = [](MPI_Request& request) {
    int done = 0;
    return MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
  };
  bool over = true;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (is_over(requests_[i])) continue;
    const bool receives = i < messages_.receives.size();
    if (receives && !taken_back_) MPI_Cancel(&requests_[i]); // without effect if its message is coming in
    if (!receives || !is_over(requests_[i])) over = false;
  }
  taken_back_ = true;
  return over;
}

const Message& MessageRequests::message(std::size_t request) const {
  const auto receives = messages_.receives.size();
  return request < receives ? messages_.receives[request] : messages_.sends[request - receives];
}

void MessageRequests::fail_wait(int code) {
  for (std::size_t i = 0; code == MPI_ERR_IN_STATUS && i < statuses_.size(); ++i) {
    const int error = statuses_[i].MPI_ERROR;
    if (error == MPI_SUCCESS || error == MPI_ERR_PENDING) continue;
    fail(error,
         i < messages_.receives.size() ? "MPI_Waitall on the receive from" : "MPI_Waitall on the send to",
         message(i));
  }
  *unsafe_to_free_ = true;
  throw MpiError(fmt::format("exchange '{}': MPI_Waitall failed: {}", messages_.label, error_text(code)));
}

void MessageRequests::fail_timeout() {
  *unsafe_to_free_ = true;
  const int rank = rank_of(comm_);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    int done = 0;
    MPI_Request_get_status(requests_[i], &done, MPI_STATUS_IGNORE);
    if (done) continue;
    const bool incoming = i < messages_.receives.size();
    const auto& m = message(i);
    throw Error(
        fmt::format("exchange '{}': rank {} has waited {} s for rank {} to {} View '{}'; the message is "
                    "lost, or that rank is elsewhere",
                    messages_.label, rank, timeout_, m.peer, incoming ? "send to" : "receive", m.label));
  }
  throw Error(fmt::format("exchange '{}': rank {} has waited {} s", messages_.label, rank, timeout_));
}

} // namespace kontor::comm::mpi

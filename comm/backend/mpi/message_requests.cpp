// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/mpi/message_requests.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <utility>

namespace kontor::comm::mpi {

MessageRequests::MessageRequests(const BackendContext& context, MessageSet messages)
    : comm_(context.comm), unsafe_to_free_(context.unsafe_to_free), messages_(std::move(messages)),
      requests_(messages_.receives.size() + messages_.sends.size(), MPI_REQUEST_NULL),
      statuses_(requests_.size()) {}

void MessageRequests::fail(int code, const char* operation, const Message& m) {
  *unsafe_to_free_ = true;
  fail_message(messages_.label, code, operation, m);
}

void MessageRequests::wait() {
  if (requests_.empty()) return;
  const int code = MPI_Waitall(size(), data(), statuses_.data());
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
  if (!ends_alone(*unsafe_to_free_)) MPI_Waitall(size(), data(), MPI_STATUSES_IGNORE);
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

std::string MessageRequests::awaited() const {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    int done = 0;
    MPI_Request_get_status(requests_[i], &done, MPI_STATUS_IGNORE);
    if (done) continue;
    const auto& m = message(i);
    return fmt::format("rank {} to {} View '{}'; the message is lost, or that rank is elsewhere", m.peer,
                       i < messages_.receives.size() ? "send to" : "receive", m.label);
  }
  return "its messages";
}

} // namespace kontor::comm::mpi

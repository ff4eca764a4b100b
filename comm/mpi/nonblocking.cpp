// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern `nonblocking`: all receives, all sends, one wait for all of them.
#include "handle.hpp"
#include "message.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <exception>

namespace kontor::comm::mpi {
namespace {

class Nonblocking final : public Plan {
 public:
  Nonblocking(MPI_Comm comm, MessageSet messages)
      : comm_(comm), messages_(std::move(messages)),
        requests_(messages_.receives.size() + messages_.sends.size(), MPI_REQUEST_NULL),
        statuses_(requests_.size()) {}

  /// A plan dropped between start() and finish() completes its messages, because their buffers are about to
  /// go: all ranks have started, so all messages arrive. After an error the other ranks may be gone, and
  /// nothing waits: receives are taken back and sends left to MPI.
  ~Nonblocking() override {
    if (!failed_ && std::uncaught_exceptions() == 0) {
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
      return;
    }
    const auto receives = messages_.receives.size();
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      if (i < receives) {
        MPI_Cancel(&requests_[i]);
        MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
      } else {
        MPI_Request_free(&requests_[i]);
      }
    }
  }

  void start() override {
    auto* request = requests_.data();
    for (const auto& m : messages_.receives) {
      const int code = MPI_Irecv(m.data, m.count, m.type, m.peer, m.tag, comm_, request++);
      if (code != MPI_SUCCESS) [[unlikely]]
        fail_message(code, "MPI_Irecv from", m);
    }
    for (const auto& m : messages_.sends) {
      const int code = MPI_Isend(m.data, m.count, m.type, m.peer, m.tag, comm_, request++);
      if (code != MPI_SUCCESS) [[unlikely]]
        fail_message(code, "MPI_Isend to", m);
    }
  }

  void finish() override {
    if (requests_.empty()) return;
    const int code = MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses_.data());
    if (code != MPI_SUCCESS) [[unlikely]]
      fail_wait(code);
  }

 private:
  [[noreturn]] void fail_message(int code, const char* operation, const Message& m) {
    failed_ = true;
    throw Error(fmt::format("exchange '{}': {} rank {} of View '{}' failed: {}", messages_.label, operation,
                            m.peer, m.label, error_text(code)));
  }

  [[noreturn]] void fail_wait(int code) {
    failed_ = true;
    const auto receives = messages_.receives.size();
    for (std::size_t i = 0; code == MPI_ERR_IN_STATUS && i < statuses_.size(); ++i) {
      const int error = statuses_[i].MPI_ERROR;
      if (error == MPI_SUCCESS || error == MPI_ERR_PENDING) continue;
      if (i < receives) fail_message(error, "MPI_Waitall on the receive from", messages_.receives[i]);
      fail_message(error, "MPI_Waitall on the send to", messages_.sends[i - receives]);
    }
    throw Error(fmt::format("exchange '{}': MPI_Waitall failed: {}", messages_.label, error_text(code)));
  }

  MPI_Comm comm_;
  MessageSet messages_;
  std::vector<MPI_Request> requests_; // receives first, then sends
  std::vector<MPI_Status> statuses_;
  bool failed_ = false;
};

} // namespace

std::unique_ptr<Plan> make_plan(const MpiHandle& handle, Schedule& schedule) {
  return std::make_unique<Nonblocking>(handle.comm, messages(schedule));
}

} // namespace kontor::comm::mpi

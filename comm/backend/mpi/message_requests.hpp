// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/mpi/message.hpp"

#include <cstddef>
#include <vector>

namespace kontor::comm::mpi {

/// The requests of a plan's messages, receives first, and how they are completed.
class MessageRequests {
 public:
  MessageRequests(const BackendContext&, MessageSet);

  const MessageSet& messages() const { return messages_; }
  MPI_Comm comm() const { return comm_; }
  MPI_Request* data() { return requests_.data(); }
  int size() const { return static_cast<int>(requests_.size()); }

  /// Throws what MPI reported on starting message `m`.
  [[noreturn]] void fail(int code, const char* operation, const Message& m);

  /// Returns when all messages are complete. Throws Error, with the first message that failed or, at check
  /// level `cross_rank`, the first that has not come at the timeout.
  void wait();

  /// Whether all messages are complete. Throws Error, with the first message that failed.
  bool test();

  /// Ends what is under way, because the buffers are about to go: all messages arrive, since all ranks have
  /// started. Where this rank ends alone, gives up.
  void end() noexcept;

  /// See Plan: receives are taken back, sends go on.
  bool give_up() noexcept;

 private:
  [[noreturn]] void fail_wait(int code);
  [[noreturn]] void fail_timeout();
  const Message& message(std::size_t request) const;

  MPI_Comm comm_;
  std::shared_ptr<bool> unsafe_to_free_;
  double timeout_; ///< seconds; 0: any time
  MessageSet messages_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  bool taken_back_ = false; ///< the receives
};

} // namespace kontor::comm::mpi

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/mpi/message.hpp"

#include <cstddef>
#include <string>
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

  /// Returns when all messages are complete. Throws MpiError, with the first message that failed.
  void wait();

  /// Whether all messages are complete. Throws MpiError, with the first message that failed.
  bool test();

  /// "rank 3 to send View 'a'": the first message that is not complete.
  std::string awaited() const;

  /// Ends what is under way, because the buffers are about to go: all ranks have started.
  void end() noexcept;

 private:
  [[noreturn]] void fail_wait(int code);
  const Message& message(std::size_t request) const;

  MPI_Comm comm_;
  std::shared_ptr<bool> unsafe_to_free_;
  MessageSet messages_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
};

} // namespace kontor::comm::mpi

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/envelope.hpp>

#include <mpi.h>

#include <cstdint>
#include <optional>

/// What a message is, before it is received and after.
namespace kontor::comm {

/// A message that has come, or has been received. Costs what MPI_Status costs: bytes() asks MPI.
class MessageStatus {
 public:
  /// Of a message that no_rank has sent: empty.
  MessageStatus() = default;
  /// MPI's, of a message whose elements follow so many other bytes.
  explicit MessageStatus(const MPI_Status& status, std::int64_t before = 0)
      : source(status.MPI_SOURCE == MPI_PROC_NULL ? no_rank : status.MPI_SOURCE), tag(status.MPI_TAG), status_(status),
        before_(before) {}

  int source = no_rank; ///< the rank that sent it
  int tag = any_tag;    ///< what it was sent with

  /// Local. Of its elements. MPI_Get_count, of more than 2^31 bytes MPI_Get_elements_x.
  std::int64_t bytes() const;
  /// Local. The same in elements of that type.
  template <class T>
  std::int64_t count() const {
    return bytes() / static_cast<std::int64_t>(sizeof(T));
  }

 private:
  MPI_Status status_{};
  std::int64_t before_ = 0;
};

/// Local. Waits for a message from that rank with that tag and says what it is; it remains to be received. MPI_Probe.
/// At check level `cross_rank` the wait ends with an Error at the timeout.
MessageStatus probe(const Communicator&, int source = any_source, int tag = any_tag);

/// Local. The same without waiting: nothing if no such message has come. MPI_Iprobe.
std::optional<MessageStatus> iprobe(const Communicator&, int source = any_source, int tag = any_tag);

} // namespace kontor::comm

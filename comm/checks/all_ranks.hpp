// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/deadline.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/mpi_check.hpp>

/// Messages between all ranks about a call in which something is wrong. Other such calls may be under way, so they are
/// no collective operations and have a tag of the call's own; and ranks may be missing.
namespace kontor::comm::detail {

/// Local. Sends `value(r)`, one of `values`, to each rank r, this one included. MPI reads them after the return.
template <class T, class Value>
void send_to_all(const Communicator& comm, const std::shared_ptr<std::vector<T>>& values, const Value& value, int tag) {
  static_assert(std::is_trivially_copyable_v<T>);
  for (int r = 0; r < comm.size(); ++r) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(MPI_Isend(&value(r), sizeof(T), MPI_BYTE, r, tag, internals(comm).checking_calls(), &request),
               "MPI_Isend");
    internals(comm).detach(request, values);
  }
}

/// Collective. Sends values[r], or the only one, to rank r. Returns what each rank has sent to this one; T() where it
/// has not come within Options::timeout.
template <class T>
std::vector<T> exchange_with_all(const Communicator& comm, std::vector<T> values, int tag) {
  const auto sent = std::make_shared<std::vector<T>>(std::move(values));
  const auto received = std::make_shared<std::vector<T>>(comm.size());
  std::vector<MPI_Request> requests(comm.size(), MPI_REQUEST_NULL);
  for (int r = 0; r < comm.size(); ++r)
    mpi::check(MPI_Irecv(&(*received)[r], sizeof(T), MPI_BYTE, r, tag, internals(comm).checking_calls(), &requests[r]),
               "MPI_Irecv");
  send_to_all(
      comm, sent, [&](int r) -> const T& { return (*sent)[sent->size() == 1 ? 0 : r]; }, tag);
  for (auto& request : requests)
    if (!mpi::wait_at_most(request, comm.options().timeout)) internals(comm).detach(request, received);
  return *received;
}

/// Local. Whether another rank has come to a call and given up waiting for the others.
bool another_rank_timed_out(const Communicator&);

/// Where this rank gives up on the call of that number, or another one has. Tells the other ranks that this one has
/// come, listens for a while who else has, and says in words who came and who did not.
std::string who_is_missing(const Communicator&, std::int64_t number);

} // namespace kontor::comm::detail

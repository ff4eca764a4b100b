// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <mpi.h>

#include <span>

namespace kontor::comm::mpi {

/// Collective over the ranks of the transfers. One end of each message tells the other a value: `info` has one for each
/// transfer of `by_me`, and the result one for each of `to_me`. Each receiver tells its senders where in its memory
/// their messages belong: peer_exchange(comm, receives, places, sends); or each sender its receivers.
template <class T>
std::vector<T> peer_exchange(MPI_Comm comm, std::span<const Transfer> by_me, const std::vector<T>& info,
                             std::span<const Transfer> to_me) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> received(to_me.size());
  std::vector<MPI_Request> requests(to_me.size() + by_me.size());
  auto* request = requests.data();
  auto* in = received.data();
  for (const auto& t : to_me) check(MPI_Irecv(in++, sizeof(T), MPI_BYTE, t.peer, t.tag, comm, request++), "MPI_Irecv");
  const auto* out = info.data();
  for (const auto& t : by_me) check(MPI_Isend(out++, sizeof(T), MPI_BYTE, t.peer, t.tag, comm, request++), "MPI_Isend");
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  return received;
}

} // namespace kontor::comm::mpi

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>

#include <mpi.h>

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace kontor::comm::mpi {

/// Collective over the ranks of the transfers. One end of each message tells the other so many bytes: `told` has one
/// piece for each transfer of `by_me`, and `heard` gets one for each of `to_me`.
void peer_exchange_bytes(MPI_Comm, std::span<const Transfer> by_me, const void* info, std::span<const Transfer> to_me,
                         void* received, int bytes);

/// The same with values. Each receiver tells its senders where in its memory their messages belong: trade(comm,
/// receives, places, sends); or each sender its receivers.
template <class T>
std::vector<T> peer_exchange(MPI_Comm comm, std::span<const Transfer> by_me, const std::vector<T>& info,
                             std::span<const Transfer> to_me) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> received(to_me.size());
  peer_exchange_bytes(comm, by_me, info.data(), to_me, received.data(), sizeof(T));
  return received;
}

} // namespace kontor::comm::mpi

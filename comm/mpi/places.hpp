// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend.hpp>

#include <mpi.h>

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace kontor::comm::mpi {

/// Collective over the ranks of the transfers. One end of each message tells the other so many bytes:
/// `told` has one piece for each transfer of `by_me`, and `heard` gets one for each of `to_me`.
void trade_bytes(MPI_Comm, std::span<const Transfer> by_me, const void* told, std::span<const Transfer> to_me,
                 void* heard, int bytes);

/// The same with values. Each receiver tells its senders where in its memory their messages belong:
/// trade(comm, receives, places, sends); or each sender its receivers.
template <class T>
std::vector<T> trade(MPI_Comm comm, std::span<const Transfer> by_me, const std::vector<T>& told,
                     std::span<const Transfer> to_me) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> heard(to_me.size());
  trade_bytes(comm, by_me, told.data(), to_me, heard.data(), sizeof(T));
  return heard;
}

} // namespace kontor::comm::mpi

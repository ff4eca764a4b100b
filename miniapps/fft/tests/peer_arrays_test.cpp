// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns order what ranks read and write in each other's arrays, however late one of them is.
#include "fft/algorithm/peer_arrays.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace kontor::fft {
namespace {

using Value = Complex<double>;
using Place = Kokkos::View<Value, Space::memory_space, Kokkos::MemoryUnmanaged>;

void write(Value* place, double value) { Kokkos::deep_copy(Place(place), Value(value, -value)); }

double read(Value* place) {
  Value value;
  Kokkos::deep_copy(value, Place(place));
  return value.real() == -value.imag() ? value.real() : -1;
}

/// As transposes do: what others read is made just before the turn, and each turn overwrites what others read in the
/// one before. One rank is late to begin, and the next one to read.
TEST(PeerArrays, ArePutInOrderByTurns) {
  const comm::Communicator comm(MPI_COMM_WORLD, {.backend = device::kernels_on_host ? "shm" : "ipc"});
  const auto refusal = PeerArrays<Value>::Memory::refusal(comm);
  if (refusal) GTEST_SKIP() << *refusal;
  std::vector<int> others;
  for (int rank = 0; rank < comm.size(); ++rank)
    if (rank != comm.rank()) others.push_back(rank);
  const PeerArrays<Value> arrays(comm, others, 1);
  const Space instance;
  const auto late = [&](int turn) {
    if (turn % comm.size() == comm.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  for (int turn = 0; turn < 12; ++turn) {
    const int from = turn % 2, to = 1 - from;
    late(turn);
    write(arrays.array(comm.rank(), from), 100 * turn + comm.rank());
    arrays.turn(instance);
    instance.fence();
    write(arrays.array(comm.rank(), to), 9999);
    late(turn + 1);
    for (const int other : others)
      EXPECT_EQ(read(arrays.of(other, arrays.array(comm.rank(), from))), 100 * turn + other) << "turn " << turn;
  }
  instance.fence();
  arrays.check();
}

} // namespace
} // namespace kontor::fft

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes wrong on the last rank only must fail the whole run: a test of the tests, and of what ends a program. Each
// is run by itself, and CTest expects it to fail.
#include "comm_test.hpp"

namespace kontor::comm::test {

void let_fail(const char* function, int call); // in faults.cpp

namespace {

bool on_last_rank() { return world_rank() == world_size() - 1; }

TEST(DISABLED_LastRank, Expects) { EXPECT_FALSE(on_last_rank()) << "expected to fail"; }

TEST(DISABLED_LastRank, Throws) {
  if (on_last_rank()) throw Error("thrown on the last rank");
}

/// What a program does with an error that is one rank's alone while the others wait for its messages.
TEST(DISABLED_LastRank, Aborts) {
  const Communicator comm(MPI_COMM_WORLD);
  auto exchange = ring_exchange(comm, "doomed", Ints("out", 1), Ints("in", 1));
  if (on_last_rank()) let_fail("MPI_Isend", 1);
  try {
    run_step(exchange);
  } catch (const Error& error) {
    std::fprintf(stderr, "rank %d aborts: %s\n", comm.rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
}

/// The others could wait for this rank.
TEST(DISABLED_LastRank, FailsInADestructor) {
  std::set_terminate([] {
    try {
      throw;
    } catch (const Error& error) {
      std::fprintf(stderr, "a destructor: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  });
  const Communicator comm(MPI_COMM_WORLD);
  if (on_last_rank()) let_fail("MPI_Comm_free", 1);
}

/// MPI calls the functor, so its exception has nowhere to go.
TEST(DISABLED_LastRank, Reduces) {
  const Communicator comm(MPI_COMM_WORLD);
  scan(comm, 1, [](const int& a, const int& b) {
    if (a >= 0) throw std::runtime_error("numbers are not liked");
    return a + b;
  });
  ADD_FAILURE() << "the scan has ended";
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes wrong on the last rank only must fail the whole run: a test of the tests, and of what ends a program. Each
// is run by itself, and CTest expects it to fail.
#include "comm_test.hpp"

namespace {
bool isend_fails = false;
bool comm_free_fails = false;
} // namespace

extern "C" int MPI_Comm_free(MPI_Comm* c) { return comm_free_fails ? MPI_ERR_OTHER : PMPI_Comm_free(c); }

extern "C" int MPI_Isend(const void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r) {
  return isend_fails ? MPI_ERR_OTHER : PMPI_Isend(b, n, t, p, g, c, r);
}

namespace kontor::comm::test {
namespace {

bool on_last_rank() { return world_rank() == world_size() - 1; }

TEST(LastRank, Expects) { EXPECT_FALSE(on_last_rank()) << "expected to fail"; }

TEST(LastRank, Throws) {
  if (on_last_rank()) throw Error("thrown on the last rank");
}

/// What a program does with an error that is one rank's alone while the others wait for its messages.
TEST(LastRank, Aborts) {
  const Communicator comm(MPI_COMM_WORLD);
  const Kokkos::View<int*, Kokkos::HostSpace> out("out", 1), in("in", 1);
  auto exchange = ring_exchange(comm, "doomed", out, in);
  isend_fails = on_last_rank();
  try {
    run_step(exchange);
  } catch (const Error& error) {
    std::fprintf(stderr, "rank %d aborts: %s\n", comm.rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
}

/// The others could wait for this rank.
TEST(LastRank, FailsInADestructor) {
  std::set_terminate([] {
    try {
      throw;
    } catch (const Error& error) {
      std::fprintf(stderr, "a destructor: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  });
  const Communicator comm(MPI_COMM_WORLD);
  comm_free_fails = on_last_rank();
}

/// MPI calls the functor, so its exception has nowhere to go.
TEST(LastRank, Reduces) {
  const Communicator comm(MPI_COMM_WORLD);
  scan(comm, 1, [](const int& a, const int& b) {
    if (a >= 0) throw std::runtime_error("numbers are not liked");
    return a + b;
  });
  ADD_FAILURE() << "the scan has ended";
}

} // namespace
} // namespace kontor::comm::test

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

/// Everything that a plan may have of MPI's: requests, datatypes, windows, communicators.
Exchange<Ints> make_strided(const Communicator& comm, bool in_a_step) {
  const Plane out("out", 4, 3), in("in", 4, 3);
  const auto column = [](const Plane& plane) { return Kokkos::subview(plane, Kokkos::ALL, 1); };
  auto exchange = ring_exchange(comm, "ended", column(out), column(in));
  run_step(exchange);
  if (in_a_step) exchange.start();
  return exchange;
}

/// Exchanges, idle and in the middle of a step, and their communicators, which end after MPI has; so does the program.
TEST(DISABLED_AfterMpi, EndsInGoodOrder) {
  std::vector<Communicator> communicators;
  std::vector<Exchange<Ints>> exchanges;
  for (auto method : methods()) {
    for (const auto check : {CheckLevel::local, CheckLevel::cross_rank}) {
      method.check = check;
      communicators.emplace_back(MPI_COMM_WORLD, method);
      exchanges.push_back(make_strided(communicators.back(), false));
    }
    // Small messages in a step that have arrived: MPI may not end before they do.
    if (method.pattern == Pattern::nonblocking && method.backend != automatic_backend)
      exchanges.push_back(make_strided(communicators.back(), true));
  }
  // A checked message, whose receiver answers it in its last call: the answer is still under way.
  let_fail("MPI_Isend, by endless ones", 1);
  const Doubles numbers("numbers", 3);
  if (world_rank() == 0) send(communicators.back(), numbers, 1);
  if (world_rank() == 1) recv(communicators.back(), numbers, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  exchanges.clear();
  communicators.clear();
  std::_Exit(HasFailure() ? 1 : 0);
}

} // namespace
} // namespace kontor::comm::test

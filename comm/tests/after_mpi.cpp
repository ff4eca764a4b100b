// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exchanges, idle and in the middle of a step, and their communicators, which end after MPI has.
#include "comm_test.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace kontor::comm;

/// Everything that a plan may have of MPI's: requests, datatypes, windows, communicators.
Exchange<test::Ints> make(const Communicator& comm, bool in_a_step) {
  const test::Plane out("out", 4, 3), in("in", 4, 3);
  auto exchange =
      test::ring_exchange(comm, "ended", Kokkos::subview(out, Kokkos::ALL, 1), Kokkos::subview(in, Kokkos::ALL, 1));
  test::run_step(exchange);
  if (in_a_step) exchange.start();
  return exchange;
}

bool holds = false;
MPI_Request held = MPI_REQUEST_NULL;

} // namespace

/// The sends that begin when `holds` is set never complete. No request may be asked for after MPI.
extern "C" {
int MPI_Isend(const void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r) {
  const int code = PMPI_Isend(b, n, t, p, g, c, r);
  if (holds) held = *r;
  return code;
}
int MPI_Test(MPI_Request* r, int* done, MPI_Status* s) {
  int ended = 0;
  PMPI_Finalized(&ended);
  if (ended) {
    std::printf("MPI_Test after MPI has ended\n");
    std::_Exit(3);
  }
  *done = 0;
  return held != MPI_REQUEST_NULL && *r == held ? MPI_SUCCESS : PMPI_Test(r, done, s);
}
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  std::vector<Communicator> communicators;
  std::vector<Exchange<test::Ints>> exchanges;
  for (auto method : test::methods()) {
    if (rank == 0) std::printf("%s\n", to_string(method).c_str());
    for (const auto check : {CheckLevel::local, CheckLevel::cross_rank}) {
      method.check = check;
      communicators.emplace_back(MPI_COMM_WORLD, method);
      exchanges.push_back(make(communicators.back(), false));
    }
    // Small messages in a step that have arrived: MPI may not end before they do.
    if (method.pattern == Pattern::nonblocking && method.backend != automatic_backend)
      exchanges.push_back(make(communicators.back(), true));
  }
  // A checked message, whose receiver answers it in its last call: the answer is still under way.
  holds = true;
  const test::Doubles numbers("numbers", 3);
  if (rank == 0) send(communicators.back(), numbers, 1);
  if (rank == 1) recv(communicators.back(), numbers, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  exchanges.clear();
  communicators.clear();
  if (rank == 0) std::printf("all have ended\n");
}

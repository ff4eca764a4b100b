// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/patience.hpp>

#include <thread>

namespace kontor::comm::mpi {

Deadline::Deadline(double seconds)
    : end_(Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

void yield() {
  std::this_thread::yield();
}

bool wait_at_most(MPI_Request& request, double seconds, MPI_Status* status) {
  const Deadline deadline(seconds);
  for (;;) {
    int done = 0;
    check(MPI_Test(&request, &done, status), "MPI_Test");
    if (done) return true;
    if (deadline.passed()) return false;
    yield();
  }
}

} // namespace kontor::comm::mpi

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

namespace {

struct Outcome {
  int code;
  bool done;
};

Outcome test_until(MPI_Request& request, const Deadline& deadline, MPI_Status* status) {
  for (;;) {
    int done = 0;
    const int code = MPI_Test(&request, &done, status);
    if (code != MPI_SUCCESS || done || deadline.passed()) return {code, done != 0};
    yield();
  }
}

} // namespace

bool wait_at_most(MPI_Request& request, double seconds, MPI_Status* status) {
  const auto [code, done] = test_until(request, Deadline(seconds), status);
  check(code, "MPI_Test");
  return done;
}

void give_up_after(MPI_Request& request, double seconds) noexcept {
  test_until(request, Deadline(seconds), MPI_STATUS_IGNORE);
}

} // namespace kontor::comm::mpi

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/deadline.hpp"

namespace kontor::comm::mpi {
namespace {

struct Outcome {
  int code = MPI_SUCCESS;
  int done = 0;
};

Outcome test_until(const Deadline& deadline, MPI_Request& request, MPI_Status* status) {
  Outcome outcome;
  deadline.wait([&] {
    outcome.code = MPI_Test(&request, &outcome.done, status);
    return outcome.code != MPI_SUCCESS || outcome.done;
  });
  return outcome;
}

} // namespace

bool wait_at_most(MPI_Request& request, double seconds, MPI_Status* status) {
  const auto [code, done] = test_until(Deadline(seconds), request, status);
  check(code, "MPI_Test");
  return done != 0;
}

void wait_until_timeout(MPI_Request& request, double seconds) noexcept {
  test_until(Deadline(seconds), request, MPI_STATUS_IGNORE);
}

} // namespace kontor::comm::mpi

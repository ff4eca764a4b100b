// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/deadline.hpp"

namespace kontor::comm::mpi {

bool wait_at_most(MPI_Request& request, double seconds, MPI_Status* status) {
  return Deadline(seconds).wait([&] { return test(request, status); });
}

void wait_until_timeout(MPI_Request& request, double seconds) noexcept {
  int done = 0;
  Deadline(seconds).wait([&] { return MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0; });
}

} // namespace kontor::comm::mpi

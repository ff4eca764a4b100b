// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <chrono>

/// Waits that end: what turns a lost message into an error at check level `cross_rank`.
namespace kontor::comm::mpi {

/// A moment from which on one does not wait any longer.
class Deadline {
 public:
  explicit Deadline(double seconds);
  bool passed() const { return Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

/// Lets other threads and processes of this core go on: a waiting loop calls it once a turn.
void yield();

/// Local. Waits until the operation is complete, but at most so many seconds; whether it is complete. An
/// operation that is not goes on, and stays the caller's. Throws Error if MPI reports one. MPI_Test.
bool wait_at_most(MPI_Request&, double seconds, MPI_Status* = MPI_STATUS_IGNORE);

} // namespace kontor::comm::mpi

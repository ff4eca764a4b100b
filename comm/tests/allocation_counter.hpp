// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Counts the memory that this rank's main thread takes from malloc() and operator new, MPI's own excepted.
namespace kontor::comm::test {

/// Zero from here on.
void start_counting_allocations();
/// How many there were; counting ends.
int stop_counting_allocations();

/// While one lives, nothing is counted.
class NotCounted {
 public:
  NotCounted();
  ~NotCounted();
  NotCounted(const NotCounted&) = delete;
  NotCounted& operator=(const NotCounted&) = delete;
};

} // namespace kontor::comm::test

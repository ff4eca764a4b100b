// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace kontor::comm::test {

///@{
/// The memory that this rank's main thread takes from malloc() and operator new, MPI's own excepted.
void start_counting_allocations();
int stop_counting_allocations();
///@}

/// While one lives, no allocations are counted.
class NotCounted {
 public:
  NotCounted();
  ~NotCounted();
  NotCounted(const NotCounted&) = delete;
  NotCounted& operator=(const NotCounted&) = delete;
};

} // namespace kontor::comm::test

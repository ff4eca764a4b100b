// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "comm_test.hpp"

/// MPI functions that fail by order of the test.
namespace kontor::comm::test {

/// The function is to fail on this rank: at its n-th call from now, and once. An empty name: none is.
void let_fail(const char* function, int call = 1);

/// The text of the MpiError of an operation in which that happens.
template <class Operation>
std::string text_of_failing(const char* function, int call, Operation operation) {
  let_fail(function, call);
  const auto text = text_of<MpiError>(operation);
  let_fail("");
  return text;
}

/// All ranks fail alike, so none of them waits for another.
class FaultsInARing : public OnRing {
 protected:
  Ints out{"out", 3};
  Ints in{"in", 3};
  std::string other = mpi_text(MPI_ERR_OTHER);

  /// The function's first call fails, and the error names both.
  template <class Operation>
  void expect_failing(const char* function, const std::string& what, Operation operation) {
    EXPECT_EQ(text_of_failing(function, 1, operation), what + ": " + function + " failed: " + other);
  }

  void TearDown() override {
    PMPI_Barrier(comm.native());
    expect_usable(comm);
  }
};

} // namespace kontor::comm::test

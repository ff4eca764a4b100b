// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "error_text.hpp"

#include <string>

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

} // namespace kontor::comm::test

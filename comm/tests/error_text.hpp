// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/error.hpp>

#include <mpi.h>

#include <stdexcept>
#include <string>
#include <typeinfo>

namespace kontor::comm::test {

/// The text of the error that `operation` throws, which must be of class E itself.
template <class E, class Operation>
std::string text_of(Operation operation) {
  try {
    operation();
  } catch (const std::exception& error) {
    return typeid(error) == typeid(E) ? error.what() : std::string("another class of error: ") + error.what();
  }
  return "no error";
}

inline std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

} // namespace kontor::comm::test

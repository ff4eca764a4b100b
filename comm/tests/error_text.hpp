// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/error.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <typeinfo>

namespace kontor::comm::test {

/// The text of the error that `operation` throws, which must be of class E itself. Without the stack of calls that
/// MPICH adds to its texts, and without the id that it must have.
template <class E, class Operation>
std::string text_of(Operation operation) {
  try {
    operation();
  } catch (const std::exception& error) {
    std::string text = error.what();
    if (typeid(error) != typeid(E)) return "another class of error: " + text;
    const auto id = text.find(" [E-");
    if (id == std::string::npos) return "no id in: " + text;
    text.erase(id, text.find(']', id) + 1 - id);
    return text.substr(0, text.find(", error stack:"));
  }
  return "no error";
}

inline void expect_facts(const std::string& text, std::initializer_list<std::string> facts) {
  for (const auto& fact : facts)
    EXPECT_NE(text.find(fact), std::string::npos) << "'" << fact << "' is not in: " << text;
}

inline std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

} // namespace kontor::comm::test

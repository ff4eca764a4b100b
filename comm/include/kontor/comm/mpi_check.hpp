// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <exception>
#include <string>
#include <utility>

namespace kontor::comm::mpi {

/// MPI's own text for an error code.
std::string error_text(int code);

/// Throws MpiError: `operation` failed, and MPI's text.
[[noreturn]] void fail(int code, const std::string& operation);

/// Throws MpiError if `code`, what the MPI function `operation` returned, is not success.
inline void check(int code, const char* operation) {
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, operation);
}

/// Calls `f` in a destructor, where the other ranks would wait for ever if this one went on after an error:
/// the program ends by std::terminate(), whose handler sees what `f` has thrown. What leaves a destructor it
/// may not see: g++ before 14.
template <class F>
void or_terminate(const F& f) noexcept {
  try {
    f();
  } catch (...) {
    std::terminate();
  }
}

/// check() in a destructor, likewise.
inline void check_or_terminate(int code, const char* operation) noexcept {
  or_terminate([&] { check(code, operation); });
}

/// Local. Whether MPI has ended, after which nothing of its can be freed.
bool finalized();

} // namespace kontor::comm::mpi

namespace kontor::comm::detail {

/// Never frees what MPI or a device may still read or write, because an error has left it under way. One
/// function, by whose name leak checkers know that it is meant.
template <class T>
[[gnu::noinline]] void leak(T&& left) {
  static_cast<void>(new auto(std::forward<T>(left)));
}

} // namespace kontor::comm::detail

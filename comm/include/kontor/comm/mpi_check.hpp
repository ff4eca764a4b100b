// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <atomic>
#include <exception>
#include <string>
#include <type_traits>
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

/// Calls `f` in a destructor, as all of them call MPI. After an error the other ranks could wait for ever, so the
/// program ends by std::terminate(), whose handler sees what `f` has thrown. What leaves a destructor it may not see:
/// g++ before 14. A rank that ends alone calls nothing that others take part in (ends_alone()).
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

/// In destructors. Takes back a receive; if its message is there already, nobody asks whether that is right.
void take_back(MPI_Request&) noexcept;

/// Local. Whether MPI has ended, after which nothing of its can be freed.
bool finalized();

} // namespace kontor::comm::mpi

namespace kontor::comm::detail {

/// Any thread. Never frees what MPI or a device may still read or write, because an error has left it under way. It
/// stays reachable, so leak checkers do not report it.
template <class T>
void leak(T&& left) {
  struct Leaked {
    std::decay_t<T> left;
    Leaked* next;
  };
  static std::atomic<Leaked*> newest{nullptr};
  auto* const leaked = new Leaked{std::forward<T>(left), nullptr};
  leaked->next = newest.exchange(leaked);
}

} // namespace kontor::comm::detail

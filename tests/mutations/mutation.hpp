// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

/// Which mistake a program makes: KONTOR_MUTATION is `<name>` or `<name>:<number>`; without it there is none.
namespace kontor::mutations {

inline bool is(std::string_view name) {
  const char* const given = std::getenv("KONTOR_MUTATION");
  return given && std::string_view(given).substr(0, std::string_view(given).find(':')) == name;
}

/// What stands after the colon.
inline int number() {
  const char* const given = std::getenv("KONTOR_MUTATION");
  const auto colon = given ? std::string_view(given).find(':') : std::string_view::npos;
  return colon == std::string_view::npos ? 0 : std::atoi(given + colon + 1);
}

} // namespace kontor::mutations

/// Declares the function of that symbol as the linker's --wrap leaves it, and what takes its place.
#define KONTOR_WRAPPED(Return, name, symbol, ...)                                                                      \
  Return real_##name(__VA_ARGS__) asm("__real_" symbol);                                                               \
  Return wrong_##name(__VA_ARGS__) asm("__wrap_" symbol)

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

/// Error ids: a message ends with the id of its cause, by which docs/reference/errors.md has the remedy.
namespace kontor::errors {

/// The ids that C++ raises. docs/reference/errors.md has their causes, and those of the command `kontor` too.
inline constexpr std::string_view known[] = {
    "E-CHECK-RANKS",  "E-CHECKPOINT-DECK", "E-CHECKPOINT-NONE", "E-COMM-ARGUMENT", "E-COMM-BACKEND", "E-COMM-TIMEOUT",
    "E-DECK-APP",     "E-DECK-CONFLICT",   "E-DECK-EXPRESSION", "E-DECK-KEY",      "E-DECK-LIMIT",   "E-DECK-RANGE",
    "E-DECK-RANKS",   "E-DECK-SYNTAX",     "E-DECK-TYPE",       "E-DECK-WORD",     "E-FILE-DAMAGED", "E-FILE-FORMAT",
    "E-FILE-READ",    "E-FILE-SAME",       "E-FILE-WRITE",      "E-GPU-CALL",      "E-GPU-MISSING",  "E-INTERNAL",
    "E-LAUNCH-RANKS", "E-LAUNCH-TIMEOUT",  "E-MEMORY",          "E-MPI-CALL",      "E-SPACE-SHM",    "E-USAGE-OPTION",
    "E-VERIFY",
};

/// One of them. Another literal does not compile.
class Id {
 public:
  /// Of the id with this text.
  consteval Id(const char* text) : text_(text) { // NOLINT(google-explicit-constructor): stands for its text
    if (std::find(std::begin(known), std::end(known), text_) == std::end(known)) throw "no error id";
  }
  /// "E-DECK-KEY".
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// The message with an id at the end of its first line: the first one that the line has, from the message that it
/// quotes, else `id`. So the id of the cause stays, whatever adds words.
inline std::string with_id(std::string message, Id id) {
  constexpr std::string_view open = " [E-";
  std::string found;
  const auto end = [&] { return std::min(message.find('\n'), message.size()); };
  for (auto at = message.find(open); at < end(); at = message.find(open, at)) {
    const auto close = message.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ-", at + open.size());
    if (close == std::string::npos || message[close] != ']') {
      at += open.size();
      continue;
    }
    if (found.empty()) found = message.substr(at, close + 1 - at);
    message.erase(at, close + 1 - at);
  }
  if (found.empty()) found = std::string(" [").append(id.text()).append("]");
  return message.insert(end(), found);
}

} // namespace kontor::errors

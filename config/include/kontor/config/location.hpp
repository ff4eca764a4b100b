// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/errors/id.hpp>

#include <string>
#include <string_view>

namespace kontor::config {

/// Where a key of a deck is given. What is read from a deck can keep it, so that a mistake that shows later is still
/// reported at its place.
struct Location {
  std::string place; ///< as Deck::locate() gives it: "plate.yaml:7:5"; empty for what is not from a deck
  std::string key;   ///< "problem.initial"

  /// "plate.yaml:7:5: problem.initial", or what there is of it.
  std::string text() const;

  /// Throws Error{"<text()> <message>"}.
  [[noreturn]] void fail(std::string_view message, errors::Id id = "E-DECK-CONFLICT") const;
};

/// A file that a deck names. A relative name is looked for beside the deck, in an override in the working directory.
struct InputFile {
  std::string path;  ///< absolute once read; empty: none
  Location location; ///< of its key
};

} // namespace kontor::config

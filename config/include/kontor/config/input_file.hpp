// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/location.hpp>

#include <string>

namespace kontor::config {

/// A file that a deck names. A relative name in the deck is looked for beside the deck, one in an override in the
/// working directory.
struct InputFile {
  std::string path;  ///< absolute once read; empty: none
  Location location; ///< of its key
};

} // namespace kontor::config

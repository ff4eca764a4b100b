// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tree.hpp"

#include <kontor/errors/id.hpp>

#include <string>
#include <vector>

namespace kontor::config {

/// The mistakes found in a deck so far.
class Problems {
 public:
  void add(const Place& place, std::string message, errors::Id id);
  bool empty() const { return problems_.empty(); }

  /// Throws Error with the first limits::mistakes of them, file before overrides, by line and column, and the number of
  /// the others; returns if there are none.
  void raise() const;

 private:
  struct Problem {
    Place place;
    std::string message;
  };
  std::vector<Problem> problems_;
};

} // namespace kontor::config

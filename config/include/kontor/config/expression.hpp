// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/location.hpp>

#include <string>
#include <utility>

namespace kontor::config {

/// The text of a formula such as `sin(pi*x)*exp(-t)`. Reading a deck checks it; Function evaluates it.
///
/// Formulas are written as in mathematics: + - * / ^, comparisons, && ||, condition ? a : b, pi,
/// sin cos tan asin acos atan sinh cosh tanh exp log (natural, also ln) log10 sqrt abs min max.
class Expression {
 public:
  Expression() = default;
  /// Implicit: a formula is given as text. Reading a deck adds where.
  Expression(std::string text, Location location = {}) : text_(std::move(text)), location_(std::move(location)) {}
  /// The same, of a literal.
  Expression(const char* text) : text_(text) {}

  /// As it was given.
  const std::string& text() const { return text_; }
  /// The key it was read for, and where the deck gives that: itself, or the nearest section.
  const Location& location() const { return location_; }
  /// Whether the texts are equal.
  bool operator==(const Expression& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  Location location_;
};

} // namespace kontor::config

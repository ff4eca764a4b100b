// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

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
  /// Implicit: a formula is given as text.
  Expression(std::string text) : text_(std::move(text)) {}
  /// The same, of a literal.
  Expression(const char* text) : text_(text) {}

  /// As it was given.
  const std::string& text() const { return text_; }
  bool operator==(const Expression&) const = default;

 private:
  std::string text_;
};

} // namespace kontor::config

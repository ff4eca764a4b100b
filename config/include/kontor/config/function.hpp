// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/expression.hpp>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kontor::config {

/// A compiled Expression: a function of x, y, z and t, or of other names. Movable; one thread at a time may call it.
class Function {
 public:
  /// `constants` are further names the formula may use, with their values; pi is built in. `variables` are what the
  /// formula calls the arguments, in their order; four at most, and arguments without a name it cannot use. Throws
  /// Error if the formula is malformed or uses another name.
  explicit Function(const Expression& expression, const std::map<std::string, double>& constants = {},
                    const std::vector<std::string>& variables = {"x", "y", "z", "t"});
  /// The one moved from can only be assigned to.
  Function(Function&&) noexcept;
  /// The one moved from can only be assigned to.
  Function& operator=(Function&&) noexcept;
  ~Function();

  /// Whether the formula's text contains this variable or constant.
  bool uses(std::string_view name) const;
  /// Whether the formula uses none of its variables.
  bool constant() const;

  /// The value at one point and time.
  double operator()(double x, double y, double z, double t) const;

  /// out[i] = f(x[i], y, z, t); both spans have the same length. Factors of a product that use the same arguments as in
  /// the call before are not evaluated again: 2 ns a point for sin(pi*x)*sinh(pi*y)/sinh(pi) where y changes, else 30.
  void evaluate(std::span<const double> x, double y, double z, double t, std::span<double> out) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

} // namespace kontor::config

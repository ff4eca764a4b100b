// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "leaf.hpp"

#include <kontor/config/visitor.hpp>

#include <cstdint>

namespace kontor::config {

/// An integer or a floating-point number within a range; T is std::int64_t or double.
template <class T>
class Number final : public Leaf {
 public:
  Number(T& value, Range<T> range) : value_(value), range_(range) {}

  /// "integer" or "number".
  static std::string_view noun() { return std::is_integral_v<T> ? "integer" : "number"; }

  std::string expected() const override;
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  Json json() const override { return value_; }
  Json schema() const override;

 private:
  T& value_;
  Range<T> range_;
};

extern template class Number<std::int64_t>;
extern template class Number<double>;

} // namespace kontor::config

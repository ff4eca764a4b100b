// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "leaf.hpp"

#include <kontor/config/visitor.hpp>

namespace kontor::config {

/// A formula of some variables, or a number.
class Formula final : public Leaf {
 public:
  Formula(Expression& value, Visitor::Names variables)
      : value_(value), variables_(variables.begin(), variables.end()) {}

  std::string expected() const override;
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  void set_location(const Location& location) override { value_ = Expression(value_.text(), location); }
  Json json() const override { return value_.text(); }
  Json schema() const override { return {{"type", {"string", "number"}}}; }

 private:
  Expression& value_;
  std::vector<std::string> variables_;
};

/// One of several forms: a word, or a word with a formula; `chosen` is its number.
class TaggedFormula final : public Leaf {
 public:
  TaggedFormula(std::size_t& chosen, Expression& value, const std::vector<Visitor::Form>& forms,
                Visitor::Names variables)
      : chosen_(chosen), value_(value), forms_(forms), variables_(variables) {}

  std::string expected() const override;
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  void set_location(const Location& location) override { value_ = Expression(value_.text(), location); }
  Json json() const override;
  Json schema() const override;

 private:
  std::size_t& chosen_;
  Expression& value_;
  const std::vector<Visitor::Form>& forms_;
  Visitor::Names variables_;
};

} // namespace kontor::config

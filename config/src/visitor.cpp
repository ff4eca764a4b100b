// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaf.hpp"

#include <kontor/config/visitor.hpp>

namespace kontor::config {

Visitor& Visitor::required() {
  required_ = true;
  return *this;
}

Visitor::Key Visitor::take(std::string_view key, std::string_view help) {
  return {key, help, std::exchange(required_, false)};
}

void Visitor::section(std::string_view key, std::string_view help, const Body& body) {
  visit_section(take(key, help), body);
}

void Visitor::value(std::string_view key, bool& value, std::string_view help) {
  Boolean leaf(value);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, std::int64_t& value, std::string_view help, Range<std::int64_t> range) {
  Number<std::int64_t> leaf(value, range);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, double& value, std::string_view help, Range<double> range) {
  Number<double> leaf(value, range);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, std::string& value, std::string_view help) {
  Text leaf(value);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, std::vector<std::string>& values, std::string_view help) {
  Texts leaf(values);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, DeckKeys& keys, std::string_view help, bool lists) {
  DeckKeysLeaf leaf(keys, lists);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, InputFile& value, std::string_view help) {
  FileName leaf(value);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, std::vector<std::int64_t>& value, std::string_view help,
                    Range<std::int64_t> range, Lengths lengths) {
  Sequence<std::int64_t> leaf(value, range, lengths);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, std::vector<double>& value, std::string_view help, Range<double> range,
                    Lengths lengths) {
  Sequence<double> leaf(value, range, lengths);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, std::optional<std::int64_t>& value, std::string_view help,
                    Range<std::int64_t> range) {
  Optional<std::int64_t, Number<std::int64_t>> leaf(value, "auto", range);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, std::optional<double>& value, std::string_view help, Range<double> range) {
  Optional<double, Number<double>> leaf(value, "auto", range);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, std::optional<std::vector<std::int64_t>>& value, std::string_view help,
                    Range<std::int64_t> range, Lengths lengths) {
  Optional<std::vector<std::int64_t>, Sequence<std::int64_t>> leaf(value, "auto", range, lengths);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, Expression& value, Names variables, std::string_view help) {
  Formula leaf(value, variables);
  visit_leaf(take(key, help), leaf);
}

void Visitor::value(std::string_view key, std::optional<Expression>& value, Names variables, std::string_view help) {
  Optional<Expression, Formula> leaf(value, "none", variables);
  visit_leaf(take(key, help), leaf);
}

void Visitor::choose(std::string_view key, std::size_t& chosen, const std::vector<std::string_view>& names,
                     std::string_view help) {
  Choice leaf(chosen, names, std::exchange(learn_, nullptr));
  visit_leaf(take(key, help), leaf);
}

void Visitor::choose_some(std::string_view key, std::vector<std::size_t>& chosen,
                          const std::vector<std::string_view>& names, std::string_view help, Lengths lengths) {
  Choices leaf(chosen, names, lengths);
  visit_leaf(take(key, help), leaf);
}

void Visitor::tag(std::string_view key, std::size_t& chosen, Expression& value, const std::vector<Form>& forms,
                  Names variables, std::string_view help) {
  TaggedFormula leaf(chosen, value, forms, variables);
  visit_leaf(take(key, help), leaf);
}

} // namespace kontor::config

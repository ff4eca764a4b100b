// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compile.hpp"

#include <kontor/config/function.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <functional>
#include <set>
#include <string_view>

namespace kontor::config {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_'; }

/// Whether the sign at this place joins two operands: it has one before it, and is not that of 1e-3.
bool joins(std::string_view text, std::size_t sign) {
  const auto last = text.find_last_not_of(' ', sign - 1);
  if (sign == 0 || last == std::string_view::npos || !(in_name(text[last]) || text[last] == ')')) return false;
  if (last != sign - 1 || std::tolower(static_cast<unsigned char>(text[last])) != 'e') return true;
  auto first = last;
  while (first > 0 && in_name(text[first - 1])) --first;
  return first == last || std::isalpha(static_cast<unsigned char>(text[first])) != 0 || text[first] == '_';
}

/// The place of the last + or - outside of parentheses, else of * or /, which is evaluated last; npos without one, or
/// where other operators come last.
std::size_t last_operator(std::string_view text) {
  auto sum = std::string_view::npos, product = sum;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    depth += (c == '(') - (c == ')');
    if (depth > 0) continue;
    if (std::string_view("?:<>=!&|,").find(c) != std::string_view::npos) return std::string_view::npos;
    if (c == '*' || c == '/') product = i;
    if ((c == '+' || c == '-') && joins(text, i)) sum = i;
  }
  return sum != std::string_view::npos ? sum : product;
}

} // namespace

namespace detail {

/// A formula along rows: cut where its operands use different variables, so that an operand is evaluated again only
/// where what it uses has changed. Operations and their order are those of muParser.
class Part {
 public:
  using Arguments = std::array<double, 4>; ///< of variables; of the first, which row it is

  /// `whole` is the parser of a formula of which this is a part.
  Part(const mu::Parser& whole, const std::string& text, const Arguments& arguments) : parser_(whole) {
    parser_.SetExpr(text);
    for (const auto& [name, address] : parser_.GetUsedVar())
      for (std::size_t i = 0; i < arguments.size(); ++i) uses_[i] = uses_[i] || address == &arguments[i];
    const auto cut = last_operator(text);
    if (cut == std::string::npos || text.find('(') == std::string::npos) return;
    Part left(whole, text.substr(0, cut), arguments), right(whole, text.substr(cut + 1), arguments);
    // Nothing is gained, and muParser calculates with constants beforehand, if they are not apart.
    const bool whole_operands = left.operation_ == 0 && right.operation_ == 0;
    if (whole_operands && (left.uses_ == right.uses_ || left.constant() || right.constant())) return;
    operation_ = text[cut];
    operands_.push_back(std::move(left));
    operands_.push_back(std::move(right));
  }

  bool constant() const { return uses_ == decltype(uses_){}; }

  /// The values along x, or one for all; `arguments` are those of the parser, the first one's place is free.
  const std::vector<double>& along(std::span<const double> x, Arguments& arguments, double row) {
    Arguments used{row, arguments[1], arguments[2], arguments[3]};
    for (std::size_t i = 0; i < used.size(); ++i)
      if (!uses_[i]) used[i] = 0;
    if (!values_.empty() && used == used_) return values_;
    values_.resize(uses_[0] ? x.size() : 1);
    if (operation_ != 0) {
      const auto& left = operands_[0].along(x, arguments, row);
      const auto& right = operands_[1].along(x, arguments, row);
      switch (operation_) {
      case '+': combine(left, right, std::plus()); break;
      case '-': combine(left, right, std::minus()); break;
      case '*': combine(left, right, std::multiplies()); break;
      default: combine(left, right, std::divides());
      }
    } else {
      for (std::size_t i = 0; i < values_.size(); ++i) {
        arguments[0] = x[i];
        values_[i] = parser_.Eval();
      }
    }
    used_ = used;
    return values_;
  }

 private:
  template <class Operation>
  void combine(const std::vector<double>& left, const std::vector<double>& right, Operation operation) {
    const auto to = values_.begin();
    if (left.size() < values_.size())
      std::transform(right.begin(), right.end(), to, [&, a = left[0]](double b) { return operation(a, b); });
    else if (right.size() < values_.size())
      std::transform(left.begin(), left.end(), to, [&, b = right[0]](double a) { return operation(a, b); });
    else
      std::transform(left.begin(), left.end(), right.begin(), to, operation);
  }

  mu::Parser parser_;
  std::array<bool, 4> uses_{};
  char operation_ = 0; ///< of the operands; 0: there are none
  std::vector<Part> operands_;
  Arguments used_{}; ///< by the values
  std::vector<double> values_;
};

} // namespace detail

struct Function::Compiled {
  mu::Parser parser = make_parser();
  std::array<double, 4> arguments{}; // where the parser reads the variables
  std::set<std::string, std::less<>> used;
  std::map<std::string, double> constants;
  bool constant = true;
  std::vector<detail::Part> by_rows; // one, from the first row on
  std::vector<double> row;           // the last one
  double rows = 0;                   // how many others came before it
};

Function::Function(const Expression& expression, const std::map<std::string, double>& constants,
                   const std::vector<std::string>& variables)
    : compiled_(std::make_unique<Compiled>()) {
  auto& parser = compiled_->parser;
  auto names = variables;
  for (std::size_t i = 0; i < names.size(); ++i) parser.DefineVar(names[i], &compiled_->arguments.at(i));
  // As variables, which muParser lists when they are used and reads as fast as constants.
  auto& values = compiled_->constants;
  for (const auto& [name, value] : constants) {
    parser.DefineVar(name, &values.emplace(name, value).first->second);
    names.push_back(name);
  }
  if (const auto mistake = compile(parser, expression.text(), names))
    expression.location().fail(fmt::format("the expression \"{}\" is not valid: {}", expression.text(), *mistake),
                               "E-DECK-EXPRESSION");
  for (const auto& [name, address] : parser.GetUsedVar()) compiled_->used.insert(name);
  for (const auto& name : variables) compiled_->constant = compiled_->constant && !uses(name);
}

Function::Function(Function&&) noexcept = default;
Function& Function::operator=(Function&&) noexcept = default;
Function::~Function() = default;

bool Function::uses(std::string_view name) const { return compiled_->used.contains(name); }

bool Function::constant() const { return compiled_->constant; }

double Function::operator()(double x, double y, double z, double t) const {
  compiled_->arguments = {x, y, z, t};
  return compiled_->parser.Eval();
}

// One point at a time: muParser's bulk mode starts OpenMP threads on every call and is slower even on long rows.
void Function::evaluate(std::span<const double> x, double y, double z, double t, std::span<double> out) const {
  if (out.empty()) return;
  auto& [parser, arguments, used, constants, constant, by_rows, row, rows] = *compiled_;
  if (by_rows.empty()) by_rows.emplace_back(parser, parser.GetExpr(), arguments);
  if (x.size() != row.size() || std::memcmp(x.data(), row.data(), x.size_bytes()) != 0) {
    row.assign(x.begin(), x.end());
    ++rows;
  }
  arguments = {0, y, z, t};
  const auto& values = by_rows[0].along(x, arguments, rows);
  if (values.size() < out.size())
    std::fill(out.begin(), out.end(), values[0]);
  else
    std::copy(values.begin(), values.end(), out.begin());
}

} // namespace kontor::config

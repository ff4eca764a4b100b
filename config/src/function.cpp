// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compile.hpp"

#include <kontor/config/function.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <set>

namespace kontor::config {
namespace {

/// The place of the operator that muParser applies last, + - * or /; npos for other formulas.
std::size_t last_operator(std::string_view text) {
  auto sum = std::string_view::npos, product = std::string_view::npos;
  int depth = 0;
  char before = 0, before_that = 0; // no spaces
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    const bool of_exponent = (before == 'e' || before == 'E') && (std::isdigit(before_that) != 0 || before_that == '.');
    const bool of_sign = before != 0 && std::string_view("+-*/^(").find(before) != std::string_view::npos;
    depth += (c == '(') - (c == ')');
    if (depth == 0 && std::string_view("?:<>=!&|,").find(c) != std::string_view::npos) return std::string_view::npos;
    if (depth == 0 && (c == '*' || c == '/')) product = i;
    if (depth == 0 && (c == '+' || c == '-') && before != 0 && !of_exponent) {
      if (of_sign) return std::string_view::npos;
      sum = i;
    }
    before_that = before;
    before = c;
  }
  return sum == std::string_view::npos ? product : sum;
}

} // namespace

namespace detail {

/// A formula along rows: a sum or product is cut where its operands use different variables, so that one is evaluated
/// again only where what it uses has changed. Operations and their order are those of muParser.
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
    // Else nothing is gained, and muParser may have calculated with constants beforehand.
    constexpr std::array<bool, 4> none{};
    if (left.operands_.empty() && (left.uses_ == right.uses_ || left.uses_ == none || right.uses_ == none)) return;
    operator_ = text[cut];
    operands_.push_back(std::move(left));
    operands_.push_back(std::move(right));
  }

  /// The values along x, or one for all; `arguments` are those of the parser, the first one's place is free.
  const std::vector<double>& along(std::span<const double> x, Arguments& arguments, double row) {
    Arguments used{row, arguments[1], arguments[2], arguments[3]};
    for (std::size_t i = 0; i < used.size(); ++i) used[i] = uses_[i] ? used[i] : 0;
    if (!values_.empty() && std::memcmp(&used, &used_, sizeof used) == 0) return values_;
    used_ = used;
    values_.resize(uses_[0] ? x.size() : 1);
    const auto count = values_.size();
    if (operands_.empty()) {
      for (std::size_t i = 0; i < count; ++i) {
        arguments[0] = x[i];
        values_[i] = parser_.Eval();
      }
      return values_;
    }
    const auto& left = operands_[0].along(x, arguments, row);
    const auto& right = operands_[1].along(x, arguments, row);
    const auto *l = left.data(), *r = right.data();
    const int to_left = left.size() == count ? 1 : 0, to_right = right.size() == count ? 1 : 0;
    for (auto& value : values_) {
      value = operator_ == '*' ? *l * *r : operator_ == '/' ? *l / *r : operator_ == '+' ? *l + *r : *l - *r;
      l += to_left;
      r += to_right;
    }
    return values_;
  }

 private:
  mu::Parser parser_;
  std::array<bool, 4> uses_{};
  std::vector<Part> operands_; ///< two or none
  char operator_ = 0;
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

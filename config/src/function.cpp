// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compile.hpp"

#include <kontor/config/function.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace kontor::config {

struct Function::Compiled {
  mu::Parser parser = make_parser();
  std::array<double, 4> arguments{}; // where the parser reads the variables
  std::set<std::string, std::less<>> used;
  std::map<std::string, double> constants;
  bool constant = true;
  bool uses_first = false;
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
  compiled_->uses_first = !variables.empty() && uses(variables.front());
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
  if (!compiled_->uses_first) {
    std::fill(out.begin(), out.end(), (*this)(0, y, z, t));
    return;
  }
  auto& arguments = compiled_->arguments;
  arguments = {0, y, z, t};
  const auto& parser = compiled_->parser;
  for (std::size_t i = 0; i < out.size(); ++i) {
    arguments[0] = x[i];
    out[i] = parser.Eval();
  }
}

} // namespace kontor::config

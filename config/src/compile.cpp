// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compile.hpp"

#include "names.hpp"

#include <kontor/config/limits.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numbers>

namespace kontor::config {
namespace {

/// Position of an `=` that is not part of a comparison. muParser would assign to the variable.
std::size_t find_assignment(std::string_view formula) {
  for (std::size_t i = 0; i < formula.size(); ++i) {
    if (formula[i] != '=') continue;
    if (i + 1 < formula.size() && formula[i + 1] == '=') {
      ++i;
    } else if (i == 0 || std::string_view("<>!").find(formula[i - 1]) == std::string_view::npos) {
      return i;
    }
  }
  return std::string_view::npos;
}

/// The position of a comparison whose left side is another one, as in 0<i<1: its value is 0 or 1, not i.
std::optional<std::size_t> find_chain(std::string_view formula) {
  std::vector<bool> compared{false}; ///< at each depth of parentheses
  for (std::size_t i = 0; i < formula.size(); ++i) {
    const char c = formula[i];
    if (c == '(') {
      compared.push_back(false);
    } else if (c == ')') {
      if (compared.size() > 1) compared.pop_back();
    } else if (std::string_view(",?:&|").find(c) != std::string_view::npos) {
      compared.back() = false;
    } else if (std::string_view("<>=!").find(c) != std::string_view::npos) {
      if (compared.back()) return i;
      compared.back() = true;
      if (i + 1 < formula.size() && formula[i + 1] == '=') ++i;
    }
  }
  return std::nullopt;
}

/// What other languages have, and what stands for it.
constexpr std::pair<std::string_view, std::string_view> foreign[] = {{"if", "write condition ? value : other value"},
                                                                     {"and", "write a && b"},
                                                                     {"or", "write a || b"},
                                                                     {"not", "write a == 0"},
                                                                     {"!", "write a == 0"},
                                                                     {"%", "there is no remainder"}};

/// What muParser does not explain: the above, numbers that no double holds, a missing operator.
std::optional<std::string> find_foreign(const mu::Parser& parser, std::string_view formula) {
  const auto is = [&](std::size_t i, int (*kind)(int)) {
    return i < formula.size() && kind(static_cast<unsigned char>(formula[i])) != 0;
  };
  bool after_value = false;
  for (std::size_t i = 0, end = 0; i < formula.size(); i = end) {
    end = i + 1;
    if (is(i, std::isspace)) continue;
    const bool name = is(i, std::isalpha),
               number = is(i, std::isdigit) || (formula[i] == '.' && is(i + 1, std::isdigit));
    if (number) {
      double value = 0;
      const auto [stop, error] = std::from_chars(&formula[i], formula.data() + formula.size(), value);
      end = static_cast<std::size_t>(stop - formula.data());
      if (error != std::errc())
        return fmt::format("{} at position {} does not fit into a double", shown(formula.substr(i, end - i)), i + 1);
    }
    while (name && (is(end, std::isalnum) || (end < formula.size() && formula[end] == '_'))) ++end;
    const std::string text(formula.substr(i, end - i));
    for (const auto& [word, advice] : foreign)
      if (text == word && (text != "!" || formula.substr(end, 1) != "="))
        return fmt::format("{} at position {} has no meaning here; {}", text, i + 1, advice);
    const bool known = parser.GetVar().contains(text) || parser.GetConst().contains(text);
    if (after_value && (name || number || text == "("))
      return fmt::format("an operator is missing before {} at position {}; a product is written a*b", shown(text),
                         i + 1);
    after_value = number || text == ")" || (name && known);
  }
  return std::nullopt;
}

/// "foo is unknown at position 5; did you mean ...", with what is known.
std::string unknown(const mu::Parser& parser, const mu::ParserError& error, std::vector<std::string> names) {
  std::string token = error.GetToken();
  token.erase(token.find_last_not_of(' ') + 1);
  std::vector<std::string> functions;
  for (const auto& [name, callback] : parser.GetFunDef()) functions.push_back(name);
  names.push_back("pi");
  auto known = names;
  known.insert(known.end(), functions.begin(), functions.end());
  const auto near = nearest(token, known);
  const bool function = std::find(functions.begin(), functions.end(), token) != functions.end();
  const auto advice =
      function ? fmt::format("; write {}(...)", token)
      : near   ? fmt::format("; did you mean {}?", *near)
               : fmt::format("; known are {} and the functions {}", fmt::join(names, ", "), fmt::join(functions, ", "));
  return fmt::format("{} is {} at position {}{}", shown(token), function ? "a function" : "unknown", error.GetPos(),
                     advice);
}

} // namespace

mu::Parser make_parser() {
  mu::Parser parser;
  parser.ClearConst();
  parser.DefineConst("pi", std::numbers::pi);
  return parser;
}

// Evaluates it once, which is when muParser finds mistakes.
std::optional<std::string> compile(mu::Parser& parser, const std::string& formula,
                                   const std::vector<std::string>& names) {
  if (formula.size() > limits::formula)
    return fmt::format("it has {} characters; a formula may have {}", formula.size(), limits::formula);
  if (const auto position = find_assignment(formula); position != std::string::npos)
    return fmt::format("= at position {} would be an assignment; write == to compare", position + 1);
  if (const auto position = formula.find("**"); position != std::string::npos)
    return fmt::format("** at position {} is no operator; a power is written x^2", position + 1);
  if (auto found = find_foreign(parser, formula)) return found;
  if (const auto position = find_chain(formula))
    return fmt::format("the comparison at position {} has another one on its left, which is 0 or 1; write a<b && "
                       "b<c, or parentheses",
                       *position + 1);
  try {
    parser.SetExpr(' ' + formula); // muParser counts positions from 0, people from 1
    int results = 0;
    parser.Eval(results);
    if (results > 1) return "it has several values, separated by commas";
  } catch (const mu::ParserError& error) {
    if (error.GetCode() == mu::ecUNASSIGNABLE_TOKEN) return unknown(parser, error, names);
    if (error.GetCode() == mu::ecEMPTY_EXPRESSION) return "it is empty";
    if (error.GetCode() == mu::ecMISSING_PARENS)
      return "a parenthesis is not closed; inside {...} and [...] a formula with a comma stands in quotes";
    if (error.GetCode() == mu::ecUNEXPECTED_EOF) return "it ends too early";
    return shown(error.GetMsg());
  }
  return std::nullopt;
}

std::optional<std::string> mistake_in(const std::string& formula, const std::vector<std::string>& names) {
  mu::Parser parser = make_parser();
  double any = 0.5;
  for (const auto& name : names) parser.DefineVar(name, &any);
  return compile(parser, formula, names);
}

} // namespace kontor::config

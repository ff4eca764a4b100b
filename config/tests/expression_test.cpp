// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <kontor/config/error.hpp>
#include <kontor/config/function.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>

using namespace made_up;

namespace {

double value(const std::string& formula, double x = 0, double y = 0, double z = 0, double t = 0) {
  return Function(formula)(x, y, z, t);
}

TEST(Function, FollowsMathematics) {
  EXPECT_EQ(value("-x^2", 3), -9);
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("1 - 2 - 3"), -4);
  EXPECT_EQ(value("12 / 3 / 2"), 2);
  EXPECT_EQ(value("x - -y", 1, 2), 3);
  EXPECT_EQ(value("1e-3 + .5 + 2."), 2.501);
  EXPECT_EQ(value("abs(-2) + min(3, x, 2) + max(1, y)", 1, 5), 8);
  EXPECT_DOUBLE_EQ(value("sqrt(x) * pi", 4), 2 * std::numbers::pi);
  EXPECT_DOUBLE_EQ(value("log(exp(2)) + ln(exp(3)) + log10(100)"), 7);
  EXPECT_DOUBLE_EQ(value("sin(x)^2 + cos(x)^2", 0.7), 1);
  EXPECT_DOUBLE_EQ(value("tan(atan(x)) + asin(sin(x)) + acos(cos(x))", 0.3), 0.9);
  EXPECT_DOUBLE_EQ(value("cosh(x)^2 - sinh(x)^2 + tanh(0)", 0.3), 1);
}

TEST(Function, ComparesAndChooses) {
  EXPECT_EQ(value("x < 0.5 ? 1 : 2", 0.25), 1);
  EXPECT_EQ(value("x < 0.5 ? 1 : 2", 0.75), 2);
  EXPECT_EQ(value("x >= 1 && y != 2 || z == 3", 1, 2, 3), 1);
  EXPECT_EQ(value("x <= 1", 1), 1);
  EXPECT_EQ(value("x > 1", 1), 0);
}

TEST(Function, KnowsItsVariables) {
  const Function f("x + k*t", {{"k", 2.0}});
  EXPECT_EQ(f(1, 0, 0, 10), 21);
  EXPECT_TRUE(f.uses("x"));
  EXPECT_TRUE(f.uses("t"));
  EXPECT_TRUE(f.uses("k"));
  EXPECT_FALSE(f.uses("y"));
  EXPECT_FALSE(f.constant());
  EXPECT_TRUE(Function("2*k*pi", {{"k", 3.0}}).constant());
  EXPECT_TRUE(Function("7").constant());
}

TEST(Function, TakesOtherVariables) {
  const Function f("10*i + j*k", {{"k", 2.0}}, {"i", "j"});
  EXPECT_EQ(f(3, 4, 5, 6), 38);
  const std::vector<double> i{1, 2};
  std::vector<double> out(2);
  f.evaluate(i, 4, 0, 0, out);
  EXPECT_EQ(out, (std::vector<double>{18, 28}));
  EXPECT_FALSE(f.constant());
  EXPECT_TRUE(Function("k", {{"k", 2.0}}, {"i", "j"}).constant());
  EXPECT_THROW(Function("x", {}, {"i", "j"}), Error);
}

TEST(Function, EvaluatesRows) {
  const std::vector<double> x{0.1, 0.2, 0.3};
  std::vector<double> out(3);
  const Function f("sin(pi*x)*sinh(pi*y)/sinh(pi) + z*t");
  f.evaluate(x, 0.5, 2, 3, out);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(out[i], f(x[i], 0.5, 2, 3));
  EXPECT_DOUBLE_EQ(
      out[1], std::sin(0.2 * std::numbers::pi) * std::sinh(0.5 * std::numbers::pi) / std::sinh(std::numbers::pi) + 6);
  Function("y^2").evaluate(x, 3, 0, 0, out);
  EXPECT_EQ(out, (std::vector<double>{9, 9, 9}));
  f.evaluate({}, 0, 0, 0, {});
}

TEST(Function, CanBeMoved) {
  Function f("x*k", {{"k", 2.0}});
  const Function g = std::move(f);
  EXPECT_EQ(g(3, 0, 0, 0), 6);
}

TEST(Function, RefusesUnknownNames) {
  try {
    Function f("a*x", {{"alpha", 1.0}});
    FAIL() << "the expression was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what())
                  .find("the expression \"a*x\" is not valid: a is unknown at position 1; known are x, y, z, "
                        "t, alpha, pi and the functions abs, acos, "),
              0u)
        << error.what();
  }
  EXPECT_THROW(Function{Expression{}}, Error);
}

std::string initial(const std::string& formula) {
  const auto message = mistakes("{app: a, problem: {cells: [1, 1],\ninitial: " + formula + "}}");
  const std::string expected = "d.yaml:2:10: problem.initial: ";
  return message.starts_with(expected) ? message.substr(expected.size()) : message;
}

TEST(ExpressionInADeck, MayUseTheNamedVariablesOnly) {
  EXPECT_EQ(initial("x + t"),
            "\"x + t\": t is unknown at position 5; known are x, y, pi and the functions abs, acos, acosh, "
            "asin, asinh, atan, atan2, atanh, avg, cos, cosh, exp, ln, log, log10, log2, max, min, rint, "
            "sign, sin, sinh, sqrt, sum, tan, tanh [EXPRESSION]");
  EXPECT_EQ(initial("sine(x)"), "\"sine(x)\": sine is unknown at position 1; did you mean sin? [EXPRESSION]");
  EXPECT_EQ(initial("2*Pi"), "\"2*Pi\": Pi is unknown at position 3; did you mean pi? [EXPRESSION]");
  EXPECT_EQ(initial("1 + sin x"), "\"1 + sin x\": sin is a function at position 5; write sin(...) [EXPRESSION]");
}

TEST(ExpressionInADeck, IsCompiledWhenTheDeckIsRead) {
  EXPECT_EQ(initial("2x"), "\"2x\": Unexpected variable \"x\" found at position 2 [EXPRESSION]");
  EXPECT_EQ(initial("'1 +/ 2'"), "\"1 +/ 2\": Unexpected operator \"/\" found at position 4 [EXPRESSION]");
  EXPECT_EQ(initial("(1"), "\"(1\": a parenthesis is not closed; inside {...} and [...] a formula with a "
                           "comma stands in quotes [EXPRESSION]");
  EXPECT_EQ(initial("1 +"), "\"1 +\": it ends too early [EXPRESSION]");
  EXPECT_EQ(initial("''"), "\"\": it is empty [EXPRESSION]");
  EXPECT_EQ(initial("'1, 2'"), "\"1, 2\": it has several values, separated by commas [EXPRESSION]");
  EXPECT_EQ(initial("x = 1"), "\"x = 1\": = at position 3 would be an assignment; write == to compare [EXPRESSION]");
  EXPECT_EQ(initial("x == 1"), "");
  EXPECT_EQ(initial("x**2"), "\"x**2\": ** at position 2 is no operator; a power is written x^2 [EXPRESSION]");
  EXPECT_NE(initial("min(x, y)").find("\"min(x\": a parenthesis is not closed; inside {...} and [...]"),
            std::string::npos);
  EXPECT_EQ(initial("'min(x, y)'"), "");
  EXPECT_EQ(initial("7"), "");
  EXPECT_EQ(initial("-1e-3"), "");
}

TEST(ExpressionInADeck, ComparesTwoValues) {
  for (const auto& [formula, position] : {std::pair("0<x<1", 4), std::pair("0 <= x <= 1", 8), std::pair("x==y==1", 5),
                                          std::pair("2*(0<x>y)", 7), std::pair("x!=y<1 ? 1 : 2", 5)}) {
    const auto text = initial("'" + std::string(formula) + "'");
    EXPECT_NE(text.find(fmt::format("at position {} ", position)), std::string::npos) << text;
    EXPECT_NE(text.find("&&"), std::string::npos) << text;
  }
  for (const std::string formula : {"0<x && x<1", "(0<x) == (x<1)", "x<1 ? y<2 : x<3", "min(x<1, y<2)", "x<1 || y>=2"})
    EXPECT_EQ(initial("'" + formula + "'"), "") << formula;
}

} // namespace

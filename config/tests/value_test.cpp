// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <kontor/config/error.hpp>
#include <kontor/config/function.hpp>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <numbers>

namespace {

using namespace made_up;

std::string solver(const std::string& entry) { return mistakes(deck(",\n  solver: {" + entry + "}")); }

TEST(Values, AreReadFromTheDeck) {
  const auto options = read(R"yaml(app: made_up
problem:
  cells: [16, 32, 64]
  lengths: [1, 2.5, 1e-3]
  initial: "x^2 + y"
  exact: 3
  boundary:
    x_min: {neumann: "sin(pi*y)"}
    x_max: periodic
solver: {depth: +2, tolerance: .5, time_step: 1E-2, seed: -7, grid: [2, 4]}
comm:
  backend: raw
  overlap: false
file: out file.h5
)yaml");
  EXPECT_EQ(options.cells, (std::vector<std::int64_t>{16, 32, 64}));
  EXPECT_EQ(options.lengths, (std::vector<double>{1, 2.5, 1e-3}));
  EXPECT_EQ(options.initial.text(), "x^2 + y");
  EXPECT_EQ(options.exact.value().text(), "3");
  EXPECT_EQ(options.x_min.kind, Side::neumann);
  EXPECT_EQ(options.x_min.value.text(), "sin(pi*y)");
  EXPECT_EQ(options.x_max.kind, Side::periodic);
  EXPECT_EQ(options.x_max.value.text(), "0"); // as it was
  EXPECT_EQ(options.depth, 2);
  EXPECT_EQ(options.tolerance, 0.5);
  EXPECT_EQ(options.safety, 0.5);
  EXPECT_EQ(options.time_step, 0.01);
  EXPECT_EQ(options.seed, -7);
  EXPECT_EQ(options.grid, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(options.backend, Transport::raw);
  EXPECT_FALSE(options.overlap);
  EXPECT_EQ(options.file, "out file.h5");
}

TEST(Values, FilesThatAreReadCanBeListed) {
  Options options;
  EXPECT_TRUE(input_files(describer(options)).empty());
  options.data = {"/there/m.mtx", {"d.yaml:1:1", "data"}};
  const auto files = input_files(describer(options));
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].path, "/there/m.mtx");
  EXPECT_EQ(files[0].location.key, "data");
}

TEST(Values, FilesAreBesideTheDeckOrInTheWorkingDirectory) {
  const auto read_in = [](const std::string& deck_file, const std::string& name,
                          const std::vector<std::string>& overrides = {}) {
    Options options;
    Deck::parse("{app: a, problem: {cells: [1, 1]}, data: " + name + "}", deck_file, overrides)
        .read(describer(options));
    return options.data;
  };
  const auto here = std::filesystem::current_path();
  EXPECT_EQ(read_in("decks/d.yaml", "m.mtx").path, here / "decks/m.mtx");
  EXPECT_EQ(read_in("decks/d.yaml", "../m.mtx").path, here / "m.mtx");
  EXPECT_EQ(read_in("d.yaml", "m.mtx").path, here / "m.mtx");
  EXPECT_EQ(read_in("/there/d.yaml", "m.mtx").path, "/there/m.mtx");
  EXPECT_EQ(read_in("/there/d.yaml", "/m.mtx").path, "/m.mtx");
  EXPECT_EQ(read_in("/there/d.yaml", "''").path, "");
  const auto given = read_in("/there/d.yaml", "m.mtx", {"data=n.mtx"});
  EXPECT_EQ(given.path, here / "n.mtx");
  EXPECT_EQ(given.location.text(), "--set data=n.mtx: data");
  EXPECT_EQ(mistakes(deck(",\n  data: [1]")), "d.yaml:2:9: data: a list of 1 [TYPE]");
}

TEST(Values, AutoAndNoneStandForAbsence) {
  Options options;
  options.time_step = 1;
  options.exact = Expression("x");
  options.grid = {1, 1};
  Deck::parse("{app: a, problem: {cells: [1, 1], exact: none}, solver: {time_step: auto, grid: auto}}", "d.yaml")
      .read(describer(options));
  EXPECT_FALSE(options.time_step);
  EXPECT_FALSE(options.exact);
  EXPECT_FALSE(options.grid);
}

TEST(Values, AnchorsAndAliasesWork) {
  const auto options = read("{app: a, problem: {cells: [&n 8, *n], boundary: {x_min: &b {neumann: y}, x_max: *b}}}");
  EXPECT_EQ(options.cells, (std::vector<std::int64_t>{8, 8}));
  EXPECT_EQ(options.x_max.kind, Side::neumann);
  EXPECT_EQ(options.x_max.value.text(), "y");
}

TEST(Values, TheWordNullIsAWordAndNothingIsNot) {
  EXPECT_EQ(read(deck(", comm: {backend: null}")).backend, Transport::null);
  EXPECT_EQ(read(deck(", comm: {backend: \"null\"}")).backend, Transport::null);
  EXPECT_EQ(read("app: a\r\n# \u00e4\u00f6\u00fc\r\nproblem: {cells: [1, 1]}\r\ncomm:\r\n  backend: null\r\n").backend,
            Transport::null);
  EXPECT_EQ(mistakes(deck(",\n  comm: {backend: }")), "d.yaml:2:10: comm.backend: nothing [TYPE]");
  EXPECT_EQ(mistakes("app: a\nproblem: {cells: [1, 1]}\ncomm:\n  backend:\n  null: 1\n"),
            "d.yaml:4:3: comm.backend: nothing [TYPE]\nd.yaml:5:3: a key must be a name, found nothing [SYNTAX]");
  EXPECT_EQ(solver("depth: null"), "d.yaml:2:19: solver.depth: \"null\" [TYPE]");
}

TEST(Values, IntegersAreDecimal) {
  const std::string expects = "d.yaml:2:18: solver.seed: ";
  EXPECT_EQ(solver("seed: 1e3"), expects + "\"1e3\" (write 1000) [TYPE]");
  EXPECT_EQ(solver("seed: 2.0"), expects + "\"2.0\" (write 2) [TYPE]");
  EXPECT_EQ(solver("seed: 2.5"), expects + "\"2.5\" [TYPE]");
  EXPECT_EQ(solver("seed: 010"), expects + "\"010\" (remove the leading zero: it means octal in some readers) [TYPE]");
  EXPECT_EQ(solver("seed: 0x10"), expects + "\"0x10\" [TYPE]");
  EXPECT_EQ(solver("seed: 1_000"), expects + "\"1_000\" [TYPE]");
  EXPECT_EQ(solver("seed: '8'"), expects + "\"8\" (remove the quotes) [TYPE]");
  EXPECT_EQ(solver("seed: +-1"), expects + "\"+-1\" [TYPE]");
  EXPECT_EQ(solver("seed: '+'"), expects + "\"+\" [TYPE]");
  EXPECT_EQ(solver("seed: 9223372036854775808"),
            expects + "\"9223372036854775808\" (it does not fit into 64 bits) [RANGE]");
  EXPECT_EQ(read(deck(", solver: {seed: 9223372036854775807}")).seed, INT64_MAX);
  EXPECT_EQ(read(deck(", solver: {seed: -9223372036854775808}")).seed, INT64_MIN);
  EXPECT_EQ(read(deck(", solver: {seed: 0}")).seed, 0);
}

TEST(Values, DoublesAreFinite) {
  const std::string expects = "d.yaml:2:23: solver.time_step: ";
  for (const std::string text : {".inf", "-.inf", ".nan", "inf", "nan"})
    EXPECT_EQ(solver("time_step: " + text), expects + "\"" + text + "\" (it must be finite) [RANGE]");
  EXPECT_EQ(solver("time_step: 1e999"), expects + "\"1e999\" (it does not fit into a double) [RANGE]");
  EXPECT_EQ(solver("time_step: '1'"), expects + "\"1\" (remove the quotes) [TYPE]");
  EXPECT_EQ(solver("time_step: 01.5"),
            expects + "\"01.5\" (remove the leading zero: it means octal in some readers) [TYPE]");
  EXPECT_EQ(solver("time_step: 1.5s"), expects + "\"1.5s\" [TYPE]");
  EXPECT_EQ(read(deck(", solver: {time_step: +1}")).time_step, 1);
  EXPECT_EQ(read(deck(", solver: {time_step: 0.25}")).time_step, 0.25);
}

TEST(Values, OutsideTheirRangeAreRefused) {
  EXPECT_EQ(solver("depth: 0"), "d.yaml:2:19: solver.depth: \"0\" [RANGE]");
  EXPECT_EQ(solver("depth: 9"), "d.yaml:2:19: solver.depth: \"9\" [RANGE]");
  EXPECT_EQ(solver("tolerance: 0"), "d.yaml:2:23: solver.tolerance: \"0\" [RANGE]");
  EXPECT_EQ(solver("safety: 1.5"), "d.yaml:2:20: solver.safety: \"1.5\" [RANGE]");
  EXPECT_EQ(solver("time_step: -1"), "d.yaml:2:23: solver.time_step: \"-1\" [RANGE]");
  EXPECT_EQ(read(deck(", solver: {depth: 8, safety: 1, time_step: 0}")).depth, 8);
}

TEST(Values, ListsHaveALengthAndCheckedElements) {
  const auto problem = [](const std::string& entry) { return mistakes("{app: a, problem: {\n" + entry + "}}"); };
  const std::string expects = "d.yaml:2:8: problem.cells: ";
  EXPECT_EQ(problem("cells: abc"), expects + "\"abc\" [TYPE]");
  EXPECT_EQ(problem("cells: 64"), expects + "\"64\" [TYPE]");
  EXPECT_EQ(problem("cells: [64]"), expects + "a list of 1 [RANGE]");
  EXPECT_EQ(problem("cells: [1, 2, 3, 4]"), expects + "a list of 4 [RANGE]");
  EXPECT_EQ(problem("cells: [8, 0]"), "d.yaml:2:12: problem.cells[1]: \"0\" [RANGE]");
  EXPECT_EQ(problem("cells: [x, [1]]"),
            "d.yaml:2:9: problem.cells[0]: \"x\" [TYPE]\nd.yaml:2:12: problem.cells[1]: a list of 1 [TYPE]");
  EXPECT_EQ(solver("grid: [4]"), "d.yaml:2:18: solver.grid: a list of 1 [RANGE]");
}

TEST(Values, WordsAreOnesThatAreAllowed) {
  const auto comm = [](const std::string& entry) { return mistakes(deck(",\n  comm: {" + entry + "}")); };
  const std::string expects = "d.yaml:2:19: comm.backend: ";
  EXPECT_EQ(comm("backend: veiw"), expects + "\"veiw\" (did you mean view?) [WORD]");
  EXPECT_EQ(comm("backend: rwa"), expects + "\"rwa\" (did you mean raw?) [WORD]");
  EXPECT_EQ(comm("backend: pigeon"), expects + "\"pigeon\" [WORD]");
  EXPECT_EQ(comm("backend: [raw]"), expects + "a list of 1 [TYPE]");
  EXPECT_EQ(comm("backend: {raw: 1}"), "d.yaml:2:10: comm.backend: a section [TYPE]");
  EXPECT_EQ(comm("overlap: yes"), "d.yaml:2:19: comm.overlap: \"yes\" [WORD]");
  EXPECT_EQ(comm("overlap: 'true'"), "d.yaml:2:19: comm.overlap: \"true\" [WORD]");
}

TEST(Values, WordsMayComeFromAListMadeAtRunTime) {
  std::string backend = "view";
  const std::vector<Named<std::string>> allowed{{"raw", "raw"}, {"view", "view"}};
  const auto describe = [&](Visitor& v) { v.choice("backend", backend, allowed, "Who moves the halos"); };
  Deck::parse("{app: a, backend: raw}", "d.yaml").read(describe);
  EXPECT_EQ(backend, "raw");
}

TEST(Values, ListsOfWords) {
  std::vector<Transport> some{Transport::view};
  const auto describe = [&](Visitor& v) { v.choices("some", some, transports, "Who takes part", {1}); };
  const auto after = [&](const std::string& list) {
    Deck::parse("{app: a,\nsome: " + list + "}", "d.yaml").read(describe);
    return print("a", describe);
  };
  EXPECT_EQ(print("a", describe), "app: a\nsome: [view]\n");
  EXPECT_EQ(after("['null', raw]"), "app: a\nsome: [\"null\", raw]\n");
  EXPECT_EQ(some, (std::vector{Transport::null, Transport::raw}));
  const auto refused = [&](const std::string& list) { return in_short(error_of([&] { after(list); })); };
  EXPECT_EQ(refused("[raw, veiw]"), "d.yaml:2:13: some[1]: \"veiw\" (did you mean view?) [WORD]");
  EXPECT_EQ(refused("[raw, view, raw]"), "d.yaml:2:7: some: a list of 3 with raw twice [WORD]");
  EXPECT_EQ(refused("[]"), "d.yaml:2:7: some: a list of 0 [RANGE]");
  EXPECT_EQ(refused("raw"), "d.yaml:2:7: some: \"raw\" [TYPE]");
}

TEST(Values, TaggedFormsAreComplete) {
  const auto face = [](const std::string& text) {
    return mistakes("{app: a, problem: {cells: [1, 1], boundary: {\nx_min: " + text + "}}}");
  };
  const std::string forms = "problem.boundary.x_min: ";
  EXPECT_EQ(face("dirichlet"), "d.yaml:2:8: " + forms + "\"dirichlet\" (write {dirichlet: <expression>}) [TYPE]");
  EXPECT_EQ(face("{periodic: 1}"), "d.yaml:2:1: " + forms + "a section (write periodic) [TYPE]");
  EXPECT_EQ(face("{neuman: 1}"), "d.yaml:2:1: " + forms + "a section with key neuman (did you mean neumann?) [WORD]");
  EXPECT_EQ(face("open"), "d.yaml:2:8: " + forms + "\"open\" [WORD]");
  EXPECT_EQ(face("{}"), "d.yaml:2:1: " + forms + "a section of 0 keys [TYPE]");
  EXPECT_EQ(face("{neumann: 1, dirichlet: 1}"), "d.yaml:2:1: " + forms + "a section of 2 keys [TYPE]");
  EXPECT_EQ(face("{dirichlet: min(x, y)}"),
            "d.yaml:2:1: " + forms +
                "a section of 2 keys (inside {...} a formula with a comma stands in quotes) [TYPE]");
  EXPECT_EQ(face("[1]"), "d.yaml:2:8: " + forms + "a list of 1 [TYPE]");
  EXPECT_EQ(face("{neumann: 2*}"),
            "d.yaml:2:18: problem.boundary.x_min.neumann: \"2*\": it ends too early [EXPRESSION]");
}

TEST(Values, MessagesSayWhatIsAllowed) {
  const auto of = [](const std::string& entry) { return allowed(deck(", " + entry)); };
  EXPECT_EQ(of("solver: {seed: x}"), "an integer, or auto");
  EXPECT_EQ(of("solver: {depth: 0}"), "an integer from 1 to 8");
  EXPECT_EQ(of("solver: {time_step: -1}"), "a number of at least 0, or auto");
  EXPECT_EQ(of("solver: {tolerance: 0}"), "a number greater than 0");
  EXPECT_EQ(of("solver: {safety: 2}"), "a number greater than 0 and at most 1");
  EXPECT_EQ(of("solver: {grid: [4]}"), "a list of 2 integers, or auto");
  EXPECT_EQ(of("comm: {overlap: 1}"), "true or false");
  EXPECT_EQ(of("comm: {backend: x}"), "raw, view or null");
  EXPECT_EQ(of("comm: 1"), "a section");
  EXPECT_EQ(of("file: [a]"), "a text");
  EXPECT_EQ(of("data: [a]"), "the name of a file");
  EXPECT_EQ(allowed("{app: a, problem: {cells: 1}}"), "a list of 2 to 3 integers");
  EXPECT_EQ(allowed("{app: a, problem: {cells: [1, 1], initial: 2*}}"), "an expression of x and y");
  EXPECT_EQ(allowed("{app: a, problem: {cells: [1, 1], boundary: {x_min: open}}}"),
            "{dirichlet: <expression>}, {neumann: <expression>} or periodic");
}

TEST(Values, TextIsAnyScalar) {
  EXPECT_EQ(read(deck(", file: 5")).file, "5");
  EXPECT_EQ(read(deck(", file: ''")).file, "");
  EXPECT_EQ(mistakes(deck(",\n  file: [a]")), "d.yaml:2:9: file: a list of 1 [TYPE]");
  EXPECT_EQ(mistakes(deck(",\n  file: ")), "d.yaml:2:3: file: nothing [TYPE]");
}

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
  for (const char* const formula :
       {"sin(2*pi*x)*sin(2*pi*y)*exp(-t)", "-x*2*3*cos(y)*2*3*x/7/t", "x*2+3*x-1e-3*sin(y)-2E+1 - exp(z)",
        "1-sin(x)-(2-cos(t))/-y*3", "((k^2*cos(2*pi/k)+1)/(k^2))^3*sin(k*x+1)*y", "x<0.2 ? sin(y) : cos(x)*t",
        "max(x, y) - max(y, t)*z^2", "x*-sin(y)*z*3 + y - sin(x)^-2*cos(y) + sin(z)*sin(t)", "y^2", "3", "-sin(y)"}) {
    const Function g(formula, {{"k", 0.7}});
    for (const double y : {0.5, 0.5, 0.25})
      for (const double t : {0.1, 0.3}) {
        g.evaluate(x, y, 2, t, out);
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(out[i], g(x[i], y, 2, t)) << formula;
        g.evaluate({&x[1], 1}, y, 2, t, {out.data(), 1});
        EXPECT_EQ(out[0], g(x[1], y, 2, t)) << formula;
      }
  }
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
  const auto said = error_of([] { Function f("a*x", {{"alpha", 1.0}}); });
  EXPECT_TRUE(said.starts_with("the expression \"a*x\" is not valid: a is unknown at position 1; known are x, y, z, "
                               "t, alpha, pi and the functions abs, acos, "))
      << said;
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
  for (const auto& [formula, fact] :
       {std::pair("2x", "an operator is missing before x at position 2; a product is written a*b"),
        {"x (1-x)", "an operator is missing before ( at position 3; a product is written a*b"},
        {"(x)2", "an operator is missing before 2 at position 4; a product is written a*b"},
        {"if(x<1, 2, 3)", "if at position 1 has no meaning here; write condition ? value : other value"},
        {"x>0 and y>0", "and at position 5 has no meaning here; write a && b"},
        {"!(x>0)", "! at position 1 has no meaning here; write a == 0"},
        {"x%2", "% at position 2 has no meaning here; there is no remainder"},
        {"x+1e400", "1e400 at position 3 does not fit into a double"}})
    EXPECT_EQ(initial("'" + std::string(formula) + "'"), fmt::format("\"{}\": {} [EXPRESSION]", formula, fact));
  EXPECT_EQ(initial("'x != 1e-3*(y)'"), "");
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <kontor/config/input_files.hpp>

#include <gtest/gtest.h>

#include <filesystem>

using namespace made_up;

namespace {

std::string solver(const std::string& entry) {
  return mistakes(deck(",\n  solver: {" + entry + "}"));
}

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
  EXPECT_EQ(mistakes(deck(",\n  data: [1]")),
            "d.yaml:2:9: data expects the name of a file, found a list of 1");
}

TEST(Values, AutoAndNoneStandForAbsence) {
  Options options;
  options.time_step = 1;
  options.exact = Expression("x");
  options.grid = {1, 1};
  Deck::parse("{app: a, problem: {cells: [1, 1], exact: none}, solver: {time_step: auto, grid: auto}}",
              "d.yaml")
      .read(describer(options));
  EXPECT_FALSE(options.time_step);
  EXPECT_FALSE(options.exact);
  EXPECT_FALSE(options.grid);
}

TEST(Values, AnchorsAndAliasesWork) {
  const auto options =
      read("{app: a, problem: {cells: [&n 8, *n], boundary: {x_min: &b {neumann: y}, x_max: *b}}}");
  EXPECT_EQ(options.cells, (std::vector<std::int64_t>{8, 8}));
  EXPECT_EQ(options.x_max.kind, Side::neumann);
  EXPECT_EQ(options.x_max.value.text(), "y");
}

TEST(Values, TheWordNullIsAWordAndNothingIsNot) {
  EXPECT_EQ(read(deck(", comm: {backend: null}")).backend, Transport::null);
  EXPECT_EQ(read(deck(", comm: {backend: \"null\"}")).backend, Transport::null);
  EXPECT_EQ(read("app: a\r\n# \u00e4\u00f6\u00fc\r\nproblem: {cells: [1, 1]}\r\ncomm:\r\n  backend: null\r\n")
                .backend,
            Transport::null);
  EXPECT_EQ(mistakes(deck(",\n  comm: {backend: }")),
            "d.yaml:2:10: comm.backend expects raw, view or null, found nothing");
  EXPECT_EQ(mistakes("app: a\nproblem: {cells: [1, 1]}\ncomm:\n  backend:\n  null: 1\n"),
            "d.yaml:4:3: comm.backend expects raw, view or null, found nothing\n"
            "d.yaml:5:3: a key must be a name, found nothing");
  EXPECT_EQ(solver("depth: null"),
            "d.yaml:2:19: solver.depth expects an integer from 1 to 8, found \"null\"");
}

TEST(Values, IntegersAreDecimal) {
  const std::string expects = "d.yaml:2:18: solver.seed expects an integer, or auto, found ";
  EXPECT_EQ(solver("seed: 1e3"), expects + "\"1e3\" (write 1000)");
  EXPECT_EQ(solver("seed: 2.0"), expects + "\"2.0\" (write 2)");
  EXPECT_EQ(solver("seed: 2.5"), expects + "\"2.5\"");
  EXPECT_EQ(solver("seed: 010"),
            expects + "\"010\" (remove the leading zero: it means octal in some readers)");
  EXPECT_EQ(solver("seed: 0x10"), expects + "\"0x10\"");
  EXPECT_EQ(solver("seed: 1_000"), expects + "\"1_000\"");
  EXPECT_EQ(solver("seed: '8'"), expects + "\"8\" (remove the quotes)");
  EXPECT_EQ(solver("seed: +-1"), expects + "\"+-1\"");
  EXPECT_EQ(solver("seed: '+'"), expects + "\"+\"");
  EXPECT_EQ(solver("seed: 9223372036854775808"),
            expects + "\"9223372036854775808\" (it does not fit into 64 bits)");
  EXPECT_EQ(read(deck(", solver: {seed: 9223372036854775807}")).seed, INT64_MAX);
  EXPECT_EQ(read(deck(", solver: {seed: -9223372036854775808}")).seed, INT64_MIN);
  EXPECT_EQ(read(deck(", solver: {seed: 0}")).seed, 0);
}

TEST(Values, DoublesAreFinite) {
  const std::string expects = "d.yaml:2:23: solver.time_step expects a number of at least 0, or auto, found ";
  for (const std::string text : {".inf", "-.inf", ".nan", "inf", "nan"})
    EXPECT_EQ(solver("time_step: " + text), expects + "\"" + text + "\" (it must be finite)");
  EXPECT_EQ(solver("time_step: 1e999"), expects + "\"1e999\" (it does not fit into a double)");
  EXPECT_EQ(solver("time_step: '1'"), expects + "\"1\" (remove the quotes)");
  EXPECT_EQ(solver("time_step: 01.5"),
            expects + "\"01.5\" (remove the leading zero: it means octal in some readers)");
  EXPECT_EQ(solver("time_step: 1.5s"), expects + "\"1.5s\"");
  EXPECT_EQ(read(deck(", solver: {time_step: +1}")).time_step, 1);
  EXPECT_EQ(read(deck(", solver: {time_step: 0.25}")).time_step, 0.25);
}

TEST(Values, OutsideTheirRangeAreRefused) {
  EXPECT_EQ(solver("depth: 0"), "d.yaml:2:19: solver.depth expects an integer from 1 to 8, found \"0\"");
  EXPECT_EQ(solver("depth: 9"), "d.yaml:2:19: solver.depth expects an integer from 1 to 8, found \"9\"");
  EXPECT_EQ(solver("tolerance: 0"),
            "d.yaml:2:23: solver.tolerance expects a number greater than 0, found \"0\"");
  EXPECT_EQ(solver("safety: 1.5"),
            "d.yaml:2:20: solver.safety expects a number greater than 0 and at most 1, found \"1.5\"");
  EXPECT_EQ(solver("time_step: -1"),
            "d.yaml:2:23: solver.time_step expects a number of at least 0, or auto, found \"-1\"");
  EXPECT_EQ(read(deck(", solver: {depth: 8, safety: 1, time_step: 0}")).depth, 8);
}

TEST(Values, ListsHaveALengthAndCheckedElements) {
  const auto problem = [](const std::string& entry) {
    return mistakes("{app: a, problem: {\n" + entry + "}}");
  };
  const std::string expects = "d.yaml:2:8: problem.cells expects a list of 2 to 3 integers, found ";
  EXPECT_EQ(problem("cells: abc"), expects + "\"abc\"");
  EXPECT_EQ(problem("cells: 64"), expects + "\"64\"");
  EXPECT_EQ(problem("cells: [64]"), expects + "a list of 1");
  EXPECT_EQ(problem("cells: [1, 2, 3, 4]"), expects + "a list of 4");
  EXPECT_EQ(problem("cells: [8, 0]"),
            "d.yaml:2:12: problem.cells[1] expects an integer of at least 1, found \"0\"");
  EXPECT_EQ(problem("cells: [x, [1]]"),
            "d.yaml:2:9: problem.cells[0] expects an integer of at least 1, found \"x\"\n"
            "d.yaml:2:12: problem.cells[1] expects an integer of at least 1, found a list of 1");
  EXPECT_EQ(solver("grid: [4]"),
            "d.yaml:2:18: solver.grid expects a list of 2 integers, or auto, found a list of 1");
}

TEST(Values, WordsAreOnesThatAreAllowed) {
  const auto comm = [](const std::string& entry) { return mistakes(deck(",\n  comm: {" + entry + "}")); };
  const std::string expects = "d.yaml:2:19: comm.backend expects raw, view or null, found ";
  EXPECT_EQ(comm("backend: veiw"), expects + "\"veiw\"; did you mean view?");
  EXPECT_EQ(comm("backend: rwa"), expects + "\"rwa\"; did you mean raw?");
  EXPECT_EQ(comm("backend: pigeon"), expects + "\"pigeon\"");
  EXPECT_EQ(comm("backend: [raw]"), expects + "a list of 1");
  EXPECT_EQ(comm("backend: {raw: 1}"),
            "d.yaml:2:10: comm.backend expects raw, view or null, found a section");
  EXPECT_EQ(comm("overlap: yes"), "d.yaml:2:19: comm.overlap expects true or false, found \"yes\"");
  EXPECT_EQ(comm("overlap: 'true'"), "d.yaml:2:19: comm.overlap expects true or false, found \"true\"");
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
  const auto refused = [&](const std::string& list) {
    try {
      return after(list);
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refused("[raw, veiw]"),
            "d.yaml:2:13: some[1] expects raw, view or null, found \"veiw\"; did you mean view?");
  EXPECT_EQ(refused("[raw, view, raw]"), "d.yaml:2:7: some expects a list of one or more of raw, view, null, "
                                         "found a list of 3 with raw twice");
  EXPECT_EQ(refused("[]"),
            "d.yaml:2:7: some expects a list of one or more of raw, view, null, found a list of 0");
  EXPECT_EQ(refused("raw"),
            "d.yaml:2:7: some expects a list of one or more of raw, view, null, found \"raw\"");
}

TEST(Values, TaggedFormsAreComplete) {
  const auto face = [](const std::string& text) {
    return mistakes("{app: a, problem: {cells: [1, 1], boundary: {\nx_min: " + text + "}}}");
  };
  const std::string forms =
      "problem.boundary.x_min expects {dirichlet: <expression>}, {neumann: <expression>} or periodic, found ";
  EXPECT_EQ(face("dirichlet"), "d.yaml:2:8: " + forms + "\"dirichlet\"; write {dirichlet: <expression>}");
  EXPECT_EQ(face("{periodic: 1}"), "d.yaml:2:1: " + forms + "a section; write periodic");
  EXPECT_EQ(face("{neuman: 1}"), "d.yaml:2:1: " + forms + "a section with key neuman; did you mean neumann?");
  EXPECT_EQ(face("open"), "d.yaml:2:8: " + forms + "\"open\"");
  EXPECT_EQ(face("{}"), "d.yaml:2:1: " + forms + "a section of 0 keys");
  EXPECT_EQ(face("{neumann: 1, dirichlet: 1}"), "d.yaml:2:1: " + forms + "a section of 2 keys");
  EXPECT_EQ(face("[1]"), "d.yaml:2:8: " + forms + "a list of 1");
  EXPECT_EQ(face("{neumann: 2*}"),
            "d.yaml:2:18: problem.boundary.x_min.neumann expects an expression of x and y, "
            "found \"2*\": it ends too early");
}

TEST(Values, TextIsAnyScalar) {
  EXPECT_EQ(read(deck(", file: 5")).file, "5");
  EXPECT_EQ(read(deck(", file: ''")).file, "");
  EXPECT_EQ(mistakes(deck(",\n  file: [a]")), "d.yaml:2:9: file expects a text, found a list of 1");
  EXPECT_EQ(mistakes(deck(",\n  file: ")), "d.yaml:2:3: file expects a text, found nothing");
}

} // namespace

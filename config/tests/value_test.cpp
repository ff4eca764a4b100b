// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <kontor/config/input_files.hpp>

#include <gtest/gtest.h>

#include <filesystem>

using namespace made_up;

namespace {

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
  const auto refused = [&](const std::string& list) {
    try {
      return after(list);
    } catch (const Error& error) {
      return in_short(error.what());
    }
  };
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

} // namespace

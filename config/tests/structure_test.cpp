// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <kontor/config/error.hpp>

namespace {

using kontor::config::Error;
using kontor::errors::with_id;
using namespace made_up;

const std::string valid_head = "app: made_up\nproblem: {cells: [8, 8]}\n";

/// In what follows the head.
void expect_mistake(const std::string& rest, const std::string& said) {
  EXPECT_EQ(mistakes(valid_head + rest), "d.yaml:" + said) << rest;
}

TEST(Structure, UnknownKeysAreRefused) {
  expect_mistake("comm:\n  backand: raw\n", "4:3: comm.backand is unknown; did you mean comm.backend? [KEY]");
  expect_mistake("slover: {}\n", "3:1: slover is unknown; did you mean solver? [KEY]");
  EXPECT_EQ(mistakes("app: a\nproblem:\n  cells: [1, 1]\n  boundary:\n    z_min: periodic\n"),
            "d.yaml:5:5: problem.boundary.z_min is unknown; did you mean problem.boundary.x_min? [KEY]");
  // Without a near one, what is known is listed; those of another section are found.
  expect_mistake("comm:\n  velocity: 1\n", "4:3: comm.velocity is unknown; known here: backend, overlap [KEY]");
  expect_mistake("velocity: 1\n", "3:1: velocity is unknown; known here: app, problem, solver, comm, file, data [KEY]");
  expect_mistake("backend: raw\n", "3:1: backend is unknown; did you mean comm.backend? [KEY]");
  expect_mistake("comm: {file: x}\n", "3:8: comm.file is unknown; did you mean file? [KEY]");
  expect_mistake("comm.backend: raw\n", "3:1: comm.backend is unknown; keys are nested, not joined by dots [KEY]");
}

TEST(Structure, SectionsAndValuesAreNotMixedUp) {
  expect_mistake("comm: raw\n", "3:7: comm: \"raw\" [TYPE]");
  expect_mistake("comm: [raw]\n", "3:7: comm: a list of 1 [TYPE]");
  expect_mistake("comm:\n", "3:1: comm: nothing [TYPE]");
  expect_mistake("file:\n  name: x\n", "3:1: file: a section [TYPE]");
  EXPECT_EQ(mistakes("app: a\nproblem: 3\n"), "d.yaml:2:10: problem: \"3\" [TYPE]");
  EXPECT_EQ(mistakes(valid_head + "comm: {}\n"), "");
}

TEST(Structure, ATextHasNoNul) {
  expect_mistake("file: \"thesis\\0.h5\"\n", "3:7: file: a NUL character, which ends the text; remove it [TYPE]");
}

TEST(Structure, RequiredKeysMustBeThere) {
  EXPECT_EQ(mistakes("app: a\nproblem:\n  initial: x\n"),
            "d.yaml:2:1: problem.cells is missing; it expects a list of 2 to 3 integers [KEY]");
  EXPECT_EQ(mistakes("app: a\n"), "d.yaml: problem.cells is missing; it expects a list of 2 to 3 integers [KEY]");
  std::int64_t n = 0;
  const auto describe = [&](Visitor& v) {
    v.required().section("inner", "", [&](Visitor& s) { s.required().value("n", n, ""); });
  };
  EXPECT_EQ(error_of([&] { Deck::parse("app: a", "d.yaml").read(describe); }),
            "d.yaml: inner is missing; it expects a section [E-DECK-KEY]");
}

TEST(Structure, AppMustBeThere) {
  EXPECT_EQ(Deck::parse("app: heat", "d.yaml").app(), "heat");
  EXPECT_EQ(mistakes("problem: {cells: [1, 1]}"),
            "d.yaml: app is missing; it names the mini-app, as in app: heat [APP]");
  EXPECT_EQ(mistakes("app: [a]\nproblem: {cells: [1, 1]}"), "d.yaml:1:6: app: a list of 1 [APP]");
  EXPECT_EQ(error_of([] { (void)Deck::parse("a: 1", "d.yaml").app(); }),
            "d.yaml: app is missing; it names the mini-app, as in app: heat [E-DECK-APP]");
}

TEST(Structure, DuplicateKeysAreRefusedWithBothPlaces) {
  expect_mistake("comm:\n  overlap: true\n  backend: raw\n  overlap: false\n",
                 "6:3: comm.overlap is given twice; the first is at d.yaml:4:3 [KEY]");
  EXPECT_EQ(mistakes("app: a\n" + valid_head), "d.yaml:2:1: app is given twice; the first is at d.yaml:1:1 [KEY]");
}

TEST(Structure, ADeckIsOneMapping) {
  for (const std::string empty : {"", "# only a comment\n", "---\n"})
    EXPECT_EQ(mistakes(empty), "d.yaml: the file is empty; it must have a mapping of keys to values [SYNTAX]");
  EXPECT_EQ(mistakes("- a\n- b\n"), "d.yaml:1:1: a deck is a mapping of keys to values, found a list of 2 [SYNTAX]");
  EXPECT_EQ(mistakes("\nheat\n"), "d.yaml:2:1: a deck is a mapping of keys to values, found \"heat\" [SYNTAX]");
  expect_mistake("---\napp: b\n", "4:1: a second document starts here; a file is one YAML document [SYNTAX]");
  EXPECT_EQ(mistakes("\xEF\xBB\xBF---\n" + valid_head + "...\n"), "");
}

TEST(Structure, MalformedYamlIsLocated) {
  EXPECT_EQ(mistakes("app: a\nproblem: {cells: [1, 2\n"),
            "d.yaml:2:1: malformed YAML: end of sequence flow not found [SYNTAX]");
  EXPECT_EQ(mistakes("app: a: b\n"), "d.yaml:1:7: malformed YAML: illegal map value [SYNTAX]");
  EXPECT_EQ(mistakes("app: \"b\n"), "d.yaml:1:8: malformed YAML: illegal EOF in scalar [SYNTAX]");
  expect_mistake("file: 'x\n# end\n", "4:6: malformed YAML: illegal EOF in scalar [SYNTAX]");
}

TEST(Structure, UnusedFeaturesOfYamlAreRefused) {
  expect_mistake("<<: {file: x}\n", "3:1: the merge key << is not supported; write the merged keys out [SYNTAX]");
  expect_mistake("? [1]\n: 2\n", "3:3: a key must be a name, found a list of 1 [SYNTAX]");
  expect_mistake("file: !path x\n", "3:7: the tag !path is not supported; write the plain value [SYNTAX]");
  EXPECT_EQ(mistakes("app: a\nproblem: &p {cells: [1, 1], initial: *p}\n"),
            "d.yaml:2:29: problem.initial: nothing [TYPE]\nd.yaml:2:38: this alias stands inside the value "
            "that it names; write the value [SYNTAX]");
}

TEST(Structure, AllMistakesAreListedInLineOrder) {
  const std::string text = "app: made_up\n"
                           "file:\n"
                           "comm:\n"
                           "  overlap: 1\n"
                           "  backand: raw\n"
                           "problem:\n"
                           "  cells: [0, x]\n"
                           "file: y\n";
  EXPECT_EQ(mistakes(text, {"solver.depth=9", "solver"}),
            "d.yaml:2:1: file: nothing [TYPE]\n"
            "d.yaml:4:12: comm.overlap: \"1\" [WORD]\n"
            "d.yaml:5:3: comm.backand is unknown; did you mean comm.backend? [KEY]\n"
            "d.yaml:7:11: problem.cells[0]: \"0\" [RANGE]\n"
            "d.yaml:7:14: problem.cells[1]: \"x\" [TYPE]\n"
            "d.yaml:8:1: file is given twice; the first is at d.yaml:2:1 [KEY]\n"
            "--set solver.depth=9: solver.depth: \"9\" [RANGE]\n"
            "--set solver: an override is written section.key=value [E-USAGE-OPTION]");
}

TEST(Structure, DescribingAKeyTwiceIsAProgrammingError) {
  bool flag = false;
  const auto describe = [&](Visitor& v) {
    v.value("flag", flag, "");
    v.value("flag", flag, "");
  };
  EXPECT_THROW(Deck::parse("app: a", "d.yaml").read(describe), std::logic_error);
}

const std::string text = "app: made_up\n"
                         "problem:\n"
                         "  cells: [8, 8]\n"
                         "  lengths:\n"
                         "    - 1\n"
                         "    - 2\n"
                         "comm:\n"
                         "  backend: raw\n"
                         "file:\n";

TEST(Location, IsTheValuesOrTheSectionsKeyOrWhatEncloses) {
  const auto deck = Deck::parse(text, "inputs/d.yaml");
  EXPECT_EQ(deck.locate("app"), "inputs/d.yaml:1:6");
  EXPECT_EQ(deck.locate("problem"), "inputs/d.yaml:2:1");
  EXPECT_EQ(deck.locate("problem.cells"), "inputs/d.yaml:3:10");
  EXPECT_EQ(deck.locate("problem.cells[1]"), "inputs/d.yaml:3:14");
  EXPECT_EQ(deck.locate("problem.lengths[1]"), "inputs/d.yaml:6:7");
  EXPECT_EQ(deck.locate("comm.backend"), "inputs/d.yaml:8:12");
  EXPECT_EQ(deck.locate("file"), "inputs/d.yaml:9:1");
  EXPECT_EQ(deck.locate("comm.overlap"), "inputs/d.yaml:7:1");
  EXPECT_EQ(deck.locate("problem.cells[7]"), "inputs/d.yaml:3:10");
  EXPECT_EQ(deck.locate("solver.depth"), "inputs/d.yaml");
  EXPECT_EQ(deck.locate(""), "inputs/d.yaml");
}

TEST(Location, OfAnOverriddenKeyIsTheOverride) {
  const auto deck = Deck::parse(text, "inputs/d.yaml", {"comm.backend=view", "solver.depth=2", "comm.backend=null"});
  EXPECT_EQ(deck.locate("comm.backend"), "--set comm.backend=null");
  EXPECT_EQ(deck.locate("solver.depth"), "--set solver.depth=2");
  EXPECT_EQ(deck.locate("solver.tolerance"), "--set solver.depth=2");
  EXPECT_EQ(deck.locate("comm"), "inputs/d.yaml:7:1");
}

/// Also where the deck does not give the key.
TEST(Location, IsKeptByFormulas) {
  const auto deck = Deck::parse("app: made_up\n"
                                "problem:\n"
                                "  cells: [8, 8]\n"
                                "  exact: x*y\n"
                                "  boundary:\n"
                                "    x_min: {dirichlet: y}\n",
                                "d.yaml", {"problem.boundary.x_max={neumann: 1}"});
  Options options;
  deck.read([&](Visitor& v) { options.describe(v); });
  EXPECT_EQ(options.exact.value().location().text(), "d.yaml:4:10: problem.exact");
  EXPECT_EQ(options.initial.location().text(), "d.yaml:2:1: problem.initial");
  EXPECT_EQ(options.x_min.value.location().text(), deck.location("problem.boundary.x_min").text());
  EXPECT_EQ(options.x_max.value.location().place, "--set problem.boundary.x_max={neumann: 1}");
  EXPECT_EQ(options.exact, Expression("x*y")); // wherever it is from
}

const std::string small_deck = "app: made_up\nproblem:\n  cells: [8, 8]\ncomm:\n  backend: raw\n";

/// Its message begins with the override.
void expect_refused(const std::string& override, const std::string& said) {
  EXPECT_EQ(mistakes(small_deck, {override}), "--set " + override + ": " + said);
}

TEST(Override, WinsOverTheFileAndTheLastOneWins) {
  const auto options = read(small_deck, {"comm.backend=view", "problem.cells=[64,64]", "solver.depth=2",
                                         "comm.backend=null", "file=a=b.h5", "problem.boundary.x_min={neumann: x}"});
  EXPECT_EQ(options.backend, Transport::null);
  EXPECT_EQ(options.cells, (std::vector<std::int64_t>{64, 64}));
  EXPECT_EQ(options.depth, 2);
  EXPECT_EQ(options.file, "a=b.h5");
  EXPECT_EQ(options.x_min.kind, Side::neumann);
}

TEST(Override, MendsAWrongOrMissingValueOfTheFile) {
  EXPECT_EQ(read("app: a\nproblem: {cells: abc}\n", {"problem.cells=[2,2]"}).cells.size(), 2u);
  EXPECT_EQ(read("app: a\n", {"problem.cells=[1,2,3]"}).cells.size(), 3u);
}

TEST(Override, MayReplaceASection) {
  const auto options = read(small_deck + "  overlap: false\n", {"comm={backend: view}"});
  EXPECT_EQ(options.backend, Transport::view);
  EXPECT_TRUE(options.overlap);
}

TEST(Override, UnknownPathsAreRefused) {
  expect_refused("comm.backand=raw", "comm.backand is unknown; did you mean comm.backend? [KEY]");
  expect_refused("com.backend=raw", "com is unknown; did you mean comm? [KEY]");
  expect_refused("backend=raw", "backend is unknown; did you mean comm.backend? [KEY]");
  expect_refused("comm={backand: raw}", "comm.backand is unknown; did you mean comm.backend? [KEY]");
}

TEST(Override, ValuesAreChecked) {
  expect_refused("comm.overlap=maybe", "comm.overlap: \"maybe\" [WORD]");
  expect_refused("problem.cells=[1, x]", "problem.cells[1]: \"x\" [TYPE]");
  expect_refused("comm.backend=", "comm.backend: nothing [TYPE]");
  expect_refused("comm=raw", "comm: \"raw\" [TYPE]");
  expect_refused("problem={initial: x}", "problem.cells is missing; it expects a list of 2 to 3 integers [KEY]");
}

TEST(Override, MalformedOnesAreRefused) {
  expect_refused("comm.backend", "an override is written section.key=value [E-USAGE-OPTION]");
  expect_refused("=raw", "an override is written section.key=value; a key is empty [E-USAGE-OPTION]");
  expect_refused("comm.=raw", "an override is written section.key=value; a key is empty [E-USAGE-OPTION]");
  expect_refused("problem.cells=[64", "malformed YAML: end of sequence flow not found [SYNTAX]");
  expect_refused("comm={overlap: true, overlap: true}",
                 "overlap is given twice; the first is at --set comm={overlap: true, overlap: true} [KEY]");
}

TEST(Override, CannotGoThroughAValueOrChangeTheApp) {
  expect_refused("comm.backend.raw=1", "comm.backend is not a section, it is \"raw\" at d.yaml:5:12 [TYPE]");
  expect_refused("problem.cells.x=1", "problem.cells is not a section, it is a list of 2 at d.yaml:3:10 [TYPE]");
  expect_refused("app=heat", "app cannot be overridden; use a deck of that app [APP]");
}

/// It is that of a quoted message, if there is one.
TEST(ErrorId, EndsTheFirstLine) {
  EXPECT_EQ(with_id("a", "E-MEMORY"), "a [E-MEMORY]");
  EXPECT_EQ(with_id("a\nb", "E-MEMORY"), "a [E-MEMORY]\nb");
  EXPECT_EQ(with_id("a: b [E-VERIFY]; c", "E-MEMORY"), "a: b; c [E-VERIFY]");
  EXPECT_EQ(with_id("b [E-VERIFY] c [E-FILE-READ]", "E-MEMORY"), "b c [E-VERIFY]");
  EXPECT_EQ(with_id("a\nb [E-VERIFY]", "E-MEMORY"), "a [E-MEMORY]\nb [E-VERIFY]");
}

TEST(ErrorId, IsNotWhatLooksAlike) {
  for (const std::string text : {"a [E-", "a [E-x]", "a [e-verify]", "a[E-VERIFY]", "[E-VERIFY"})
    EXPECT_EQ(with_id(text, "E-MEMORY"), text + " [E-MEMORY]");
}

TEST(ErrorId, IsGivenToEachMistake) {
  const Error error({"a", "b [E-VERIFY]"}, "E-DECK-KEY");
  EXPECT_STREQ(error.what(), "a [E-DECK-KEY]\nb [E-VERIFY]");
}

} // namespace

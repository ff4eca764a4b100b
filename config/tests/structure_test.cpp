// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <gtest/gtest.h>

using namespace made_up;

namespace {

const std::string valid_head = "app: made_up\nproblem: {cells: [8, 8]}\n";

TEST(Structure, UnknownKeysAreRefusedAtEveryLevel) {
  EXPECT_EQ(mistakes(valid_head + "comm:\n  backand: raw\n"),
            "d.yaml:4:3: comm.backand is unknown; did you mean comm.backend? [KEY]");
  EXPECT_EQ(mistakes(valid_head + "slover: {}\n"), "d.yaml:3:1: slover is unknown; did you mean solver? [KEY]");
  EXPECT_EQ(mistakes("app: a\nproblem:\n  cells: [1, 1]\n  boundary:\n    z_min: periodic\n"),
            "d.yaml:5:5: problem.boundary.z_min is unknown; did you mean problem.boundary.x_min? [KEY]");
}

TEST(Structure, UnknownKeysWithoutANearOneListWhatIsKnown) {
  EXPECT_EQ(mistakes(valid_head + "comm:\n  velocity: 1\n"),
            "d.yaml:4:3: comm.velocity is unknown; known here: backend, overlap [KEY]");
  EXPECT_EQ(mistakes(valid_head + "velocity: 1\n"),
            "d.yaml:3:1: velocity is unknown; known here: app, problem, solver, comm, file, data [KEY]");
}

TEST(Structure, KeysInTheWrongSectionAreFound) {
  EXPECT_EQ(mistakes(valid_head + "backend: raw\n"),
            "d.yaml:3:1: backend is unknown; did you mean comm.backend? [KEY]");
  EXPECT_EQ(mistakes(valid_head + "comm: {file: x}\n"), "d.yaml:3:8: comm.file is unknown; did you mean file? [KEY]");
  EXPECT_EQ(mistakes(valid_head + "comm.backend: raw\n"),
            "d.yaml:3:1: comm.backend is unknown; keys are nested, not joined by dots [KEY]");
}

TEST(Structure, SectionsAndValuesAreNotMixedUp) {
  EXPECT_EQ(mistakes(valid_head + "comm: raw\n"), "d.yaml:3:7: comm: \"raw\" [TYPE]");
  EXPECT_EQ(mistakes(valid_head + "comm: [raw]\n"), "d.yaml:3:7: comm: a list of 1 [TYPE]");
  EXPECT_EQ(mistakes(valid_head + "comm:\n"), "d.yaml:3:1: comm: nothing [TYPE]");
  EXPECT_EQ(mistakes(valid_head + "file:\n  name: x\n"), "d.yaml:3:1: file: a section [TYPE]");
  EXPECT_EQ(mistakes("app: a\nproblem: 3\n"), "d.yaml:2:10: problem: \"3\" [TYPE]");
  EXPECT_EQ(mistakes(valid_head + "comm: {}\n"), "");
}

TEST(Structure, ATextHasNoNul) {
  EXPECT_EQ(mistakes(valid_head + "file: \"thesis\\0.h5\"\n"),
            "d.yaml:3:7: file: a NUL character, which ends the text; remove it [TYPE]");
}

TEST(Structure, RequiredKeysMustBeThere) {
  EXPECT_EQ(mistakes("app: a\nproblem:\n  initial: x\n"),
            "d.yaml:2:1: problem.cells is missing; it expects a list of 2 to 3 integers [KEY]");
  EXPECT_EQ(mistakes("app: a\n"), "d.yaml: problem.cells is missing; it expects a list of 2 to 3 integers [KEY]");
  std::int64_t n = 0;
  const auto describe = [&](Visitor& v) {
    v.required().section("inner", "", [&](Visitor& s) { s.required().value("n", n, ""); });
  };
  try {
    Deck::parse("app: a", "d.yaml").read(describe);
    FAIL() << "the deck was accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "d.yaml: inner is missing; it expects a section [E-DECK-KEY]");
  }
}

TEST(Structure, AppMustBeThere) {
  EXPECT_EQ(Deck::parse("app: heat", "d.yaml").app(), "heat");
  EXPECT_EQ(mistakes("problem: {cells: [1, 1]}"),
            "d.yaml: app is missing; it names the mini-app, as in app: heat [APP]");
  EXPECT_EQ(mistakes("app: [a]\nproblem: {cells: [1, 1]}"), "d.yaml:1:6: app: a list of 1 [APP]");
  try {
    (void)Deck::parse("a: 1", "d.yaml").app();
    FAIL() << "an app was found";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "d.yaml: app is missing; it names the mini-app, as in app: heat [E-DECK-APP]");
  }
}

TEST(Structure, DuplicateKeysAreRefusedWithBothPlaces) {
  EXPECT_EQ(mistakes(valid_head + "comm:\n  overlap: true\n  backend: raw\n  overlap: false\n"),
            "d.yaml:6:3: comm.overlap is given twice; the first is at d.yaml:4:3 [KEY]");
  EXPECT_EQ(mistakes("app: a\n" + valid_head), "d.yaml:2:1: app is given twice; the first is at d.yaml:1:1 [KEY]");
}

TEST(Structure, ADeckIsOneMapping) {
  EXPECT_EQ(mistakes(""), "d.yaml: the deck is empty; it must have a mapping of keys to values [SYNTAX]");
  EXPECT_EQ(mistakes("# only a comment\n"),
            "d.yaml: the deck is empty; it must have a mapping of keys to values [SYNTAX]");
  EXPECT_EQ(mistakes("---\n"), "d.yaml: the deck is empty; it must have a mapping of keys to values [SYNTAX]");
  EXPECT_EQ(mistakes("- a\n- b\n"), "d.yaml:1:1: a deck is a mapping of keys to values, found a list of 2 [SYNTAX]");
  EXPECT_EQ(mistakes("\nheat\n"), "d.yaml:2:1: a deck is a mapping of keys to values, found \"heat\" [SYNTAX]");
  EXPECT_EQ(mistakes(valid_head + "---\napp: b\n"),
            "d.yaml:4:1: a second document starts here; a deck is one YAML document [SYNTAX]");
  EXPECT_EQ(mistakes("\xEF\xBB\xBF---\n" + valid_head + "...\n"), "");
}

TEST(Structure, MalformedYamlIsLocated) {
  EXPECT_EQ(mistakes("app: a\nproblem: {cells: [1, 2\n"),
            "d.yaml:2:1: malformed YAML: end of sequence flow not found [SYNTAX]");
  EXPECT_EQ(mistakes("app: a: b\n"), "d.yaml:1:7: malformed YAML: illegal map value [SYNTAX]");
  EXPECT_EQ(mistakes("app: \"b\n"), "d.yaml:1:8: malformed YAML: illegal EOF in scalar [SYNTAX]");
  EXPECT_EQ(mistakes(valid_head + "file: 'x\n# end\n"), "d.yaml:4:6: malformed YAML: illegal EOF in scalar [SYNTAX]");
}

TEST(Structure, UnusedFeaturesOfYamlAreRefused) {
  EXPECT_EQ(mistakes(valid_head + "<<: {file: x}\n"),
            "d.yaml:3:1: the merge key << is not supported; write the merged keys out [SYNTAX]");
  EXPECT_EQ(mistakes(valid_head + "? [1]\n: 2\n"), "d.yaml:3:3: a key must be a name, found a list of 1 [SYNTAX]");
  EXPECT_EQ(mistakes(valid_head + "file: !path x\n"),
            "d.yaml:3:7: the tag !path is not supported; write the plain value [SYNTAX]");
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

} // namespace

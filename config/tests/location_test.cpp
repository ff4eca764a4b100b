// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <gtest/gtest.h>

using namespace made_up;

namespace {

const std::string text = "app: made_up\n"
                         "problem:\n"
                         "  cells: [8, 8]\n"
                         "  lengths:\n"
                         "    - 1\n"
                         "    - 2\n"
                         "comm:\n"
                         "  backend: raw\n"
                         "file:\n";

TEST(Location, IsTheValuesOrTheSectionsKey) {
  const auto deck = Deck::parse(text, "inputs/d.yaml");
  EXPECT_EQ(deck.locate("app"), "inputs/d.yaml:1:6");
  EXPECT_EQ(deck.locate("problem"), "inputs/d.yaml:2:1");
  EXPECT_EQ(deck.locate("problem.cells"), "inputs/d.yaml:3:10");
  EXPECT_EQ(deck.locate("problem.cells[1]"), "inputs/d.yaml:3:14");
  EXPECT_EQ(deck.locate("problem.lengths[1]"), "inputs/d.yaml:6:7");
  EXPECT_EQ(deck.locate("comm.backend"), "inputs/d.yaml:8:12");
  EXPECT_EQ(deck.locate("file"), "inputs/d.yaml:9:1");
}

TEST(Location, FallsBackToWhatEncloses) {
  const auto deck = Deck::parse(text, "inputs/d.yaml");
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

TEST(Location, StartsTheMessageOfFail) {
  const auto deck = Deck::parse(text, "inputs/d.yaml");
  try {
    deck.fail("problem.cells", "must be divisible by the process grid, 3x1");
    FAIL() << "fail() returned";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "inputs/d.yaml:3:10: problem.cells must be divisible by the process grid, 3x1 [E-DECK-CONFLICT]");
  }
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

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <gtest/gtest.h>

using namespace made_up;

namespace {

const std::string small_deck = "app: made_up\nproblem:\n  cells: [8, 8]\ncomm:\n  backend: raw\n";

std::string set(const std::string& override) { return mistakes(small_deck, {override}); }

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
  EXPECT_EQ(set("comm.backand=raw"),
            "--set comm.backand=raw: comm.backand is unknown; did you mean comm.backend? [KEY]");
  EXPECT_EQ(set("com.backend=raw"), "--set com.backend=raw: com is unknown; did you mean comm? [KEY]");
  EXPECT_EQ(set("backend=raw"), "--set backend=raw: backend is unknown; did you mean comm.backend? [KEY]");
  EXPECT_EQ(set("comm={backand: raw}"),
            "--set comm={backand: raw}: comm.backand is unknown; did you mean comm.backend? [KEY]");
}

TEST(Override, ValuesAreChecked) {
  EXPECT_EQ(set("comm.overlap=maybe"), "--set comm.overlap=maybe: comm.overlap: \"maybe\" [WORD]");
  EXPECT_EQ(set("problem.cells=[1, x]"), "--set problem.cells=[1, x]: problem.cells[1]: \"x\" [TYPE]");
  EXPECT_EQ(set("comm.backend="), "--set comm.backend=: comm.backend: nothing [TYPE]");
  EXPECT_EQ(set("comm=raw"), "--set comm=raw: comm: \"raw\" [TYPE]");
  EXPECT_EQ(set("problem={initial: x}"),
            "--set problem={initial: x}: problem.cells is missing; it expects a list of 2 to 3 integers [KEY]");
}

TEST(Override, MalformedOnesAreRefused) {
  EXPECT_EQ(set("comm.backend"), "--set comm.backend: an override is written section.key=value [E-USAGE-OPTION]");
  EXPECT_EQ(set("=raw"), "--set =raw: an override is written section.key=value; a key is empty [E-USAGE-OPTION]");
  EXPECT_EQ(set("comm.=raw"),
            "--set comm.=raw: an override is written section.key=value; a key is empty [E-USAGE-OPTION]");
  EXPECT_EQ(set(".backend=raw"),
            "--set .backend=raw: an override is written section.key=value; a key is empty [E-USAGE-OPTION]");
  EXPECT_EQ(set("problem.cells=[64"),
            "--set problem.cells=[64: malformed YAML: end of sequence flow not found [SYNTAX]");
  EXPECT_EQ(set("comm={overlap: true, overlap: true}"),
            "--set comm={overlap: true, overlap: true}: overlap is given twice; the first is at --set "
            "comm={overlap: true, overlap: true} [KEY]");
}

TEST(Override, CannotGoThroughAValue) {
  EXPECT_EQ(set("comm.backend.raw=1"),
            "--set comm.backend.raw=1: comm.backend is not a section, it is \"raw\" at d.yaml:5:12 [TYPE]");
  EXPECT_EQ(set("problem.cells.x=1"),
            "--set problem.cells.x=1: problem.cells is not a section, it is a list of 2 at d.yaml:3:10 [TYPE]");
}

TEST(Override, CannotChangeTheApp) {
  EXPECT_EQ(set("app=heat"), "--set app=heat: app cannot be overridden; use a deck of that app [APP]");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <gtest/gtest.h>

using namespace made_up;

namespace {

std::string print(Options& options) { return kontor::config::print("made_up", describer(options)); }

TEST(Print, ShowsEveryKeyWithItsDefault) {
  Options options;
  EXPECT_EQ(print(options), R"(app: made_up
problem:
  cells: [64, 64]
  lengths: [1.0, 1.0]
  initial: "0"
  exact: none
  boundary:
    x_min: {dirichlet: "0"}
    x_max: {dirichlet: "0"}
solver:
  depth: 1
  tolerance: 1.0e-10
  safety: 0.5
  time_step: auto
  seed: auto
  grid: auto
comm:
  backend: view
  overlap: true
file: "result.h5"
data: ""
)");
}

TEST(Print, GivesTheSameOptionsWhenReadAgain) {
  Options options;
  options.cells = {1, 2, INT64_MAX};
  options.lengths = {0.1, 1e300, 5e-324};
  options.initial = Expression("min(x, y) > 0.5 ? -x^2 : 1e-3");
  options.exact = Expression("x");
  options.x_min = {Side::neumann, Expression("sin(pi*y)")};
  options.x_max = {Side::periodic, Expression()};
  options.depth = 8;
  options.tolerance = 1.0 / 3;
  options.time_step = 123456789.0;
  options.seed = INT64_MIN;
  options.grid = {3, 2};
  options.backend = Transport::null;
  options.overlap = false;
  options.file = "no: \"tricky\"\n\t\\ # name \u00e4 \x01.h5";
  options.data.path = "/there/a file.mtx";
  const auto text = print(options);
  auto again = read(text);
  EXPECT_EQ(print(again), text);
  EXPECT_EQ(again.cells, options.cells);
  EXPECT_EQ(again.lengths, options.lengths);
  EXPECT_EQ(again.initial, options.initial);
  EXPECT_EQ(again.exact, options.exact);
  EXPECT_EQ(again.x_min.kind, Side::neumann);
  EXPECT_EQ(again.x_min.value, options.x_min.value);
  EXPECT_EQ(again.x_max.kind, Side::periodic);
  EXPECT_EQ(again.tolerance, options.tolerance);
  EXPECT_EQ(again.time_step, options.time_step);
  EXPECT_EQ(again.seed, options.seed);
  EXPECT_EQ(again.grid, options.grid);
  EXPECT_EQ(again.backend, Transport::null);
  EXPECT_EQ(again.file, options.file);
  EXPECT_EQ(again.data.path, options.data.path);
}

/// Other YAML readers, which follow YAML 1.1, must see the same types.
TEST(Print, QuotesWhatYamlWouldTakeForSomethingElse) {
  const auto printed = [](std::string text) {
    return kontor::config::print("a", [&](Visitor& v) { v.value("k", text, ""); });
  };
  EXPECT_EQ(printed("null"), "app: a\nk: \"null\"\n");
  EXPECT_EQ(printed("Yes"), "app: a\nk: \"Yes\"\n");
  EXPECT_EQ(printed("1e3"), "app: a\nk: \"1e3\"\n");
  EXPECT_EQ(printed(""), "app: a\nk: \"\"\n");
  EXPECT_EQ(printed("plate_2"), "app: a\nk: plate_2\n");
}

TEST(Print, NumbersKeepTheirType) {
  const auto printed = [](double number) {
    return kontor::config::print("a", [&](Visitor& v) { v.value("k", number, ""); });
  };
  EXPECT_EQ(printed(1), "app: a\nk: 1.0\n");
  EXPECT_EQ(printed(-2e30), "app: a\nk: -2.0e+30\n");
  EXPECT_EQ(printed(1.5e-7), "app: a\nk: 1.5e-07\n");
}

TEST(Print, LeavesOutSectionsWithoutKeys) {
  const auto describe = [](Visitor& v) { v.section("nothing", "", [](Visitor&) {}); };
  EXPECT_EQ(kontor::config::print("a", describe), "app: a\n");
}

TEST(Print, RefusesAnOptionWithoutAWord) {
  Transport backend = static_cast<Transport>(17);
  const auto describe = [&](Visitor& v) { v.choice("backend", backend, transports, ""); };
  EXPECT_THROW(kontor::config::print("a", describe), std::logic_error);
}

} // namespace

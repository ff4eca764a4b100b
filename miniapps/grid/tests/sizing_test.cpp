// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of a rank and of a share of memory, by a memory that the test makes up.
#include "grid/process_grid.hpp"
#include "grid/sizing.hpp"
#include "run/tests/refusal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace kontor::grid::test {
namespace {

/// What a deck of an app with a box says.
struct BoxDeck {
  Sizes cells{1, 1};
  SizeOptions sizing;
  std::vector<std::int64_t> process_grid;

  void describe(config::Visitor& v) {
    v.section("problem", "", [&](config::Visitor& p) {
      p.value("cells", cells, "", {1, most_along_axis}, {1, 3});
      sizing.describe(p, "cells");
    });
    v.section("decomposition", "", [&](config::Visitor& d) { d.value("process_grid", process_grid, ""); });
  }
};

double no_memory() {
  ADD_FAILURE() << "nobody needs to know the memory";
  return 0;
}

/// 8 bytes a cell of the largest part.
double bytes_of(const Sizes& cells, const std::vector<std::int64_t>& process_grid) {
  double bytes = 8;
  for (std::size_t axis = 0; axis < cells.size(); ++axis)
    bytes *= static_cast<double>((cells[axis] + process_grid[axis] - 1) / process_grid[axis]);
  return bytes;
}

BoxDeck resolved(const std::string& text, int ranks, const FreeMemory& memory = no_memory) {
  const auto deck = config::Deck::parse("app: box\n" + text, "box.yaml");
  BoxDeck box;
  deck.read([&](config::Visitor& v) { box.describe(v); });
  resolve_box_sizes(box.sizing, {"problem.cells", "cell", box.cells, box.process_grid, 0, bytes_of}, ranks, deck,
                    memory);
  EXPECT_FALSE(box.sizing.wanted());
  return box;
}

void expect_refused(const std::string& text, int ranks, const FreeMemory& memory,
                    const std::vector<std::string>& facts) {
  miniapp::test::expect_facts(miniapp::test::error_of([&] { resolved(text, ranks, memory); }), facts, text);
}

TEST(Sizing, LeavesPlainSizesAlone) { EXPECT_EQ(resolved("problem: {cells: [7, 9]}", 4).cells, (Sizes{7, 9})); }

TEST(Sizing, OfARankGrowWithTheProcessGrid) {
  const auto cells = [](const char* deck, int ranks) { return resolved(deck, ranks).cells; };
  EXPECT_EQ(cells("problem: {cells: [7, 9], local: true}", 1), (Sizes{7, 9}));
  EXPECT_EQ(cells("problem: {cells: [8, 8], local: true}", 4), (Sizes{16, 16}));
  EXPECT_EQ(cells("problem: {cells: [5, 6, 7], local: true}\ndecomposition: {process_grid: [3, 1, 2]}", 6),
            (Sizes{15, 6, 14}));
  EXPECT_EQ(cells("problem: {cells: [5], local: true}", 7), (Sizes{35}));
}

/// The record and --print-deck have plain sizes: on as many ranks they lead to the same parts.
TEST(Sizing, OfARankAreThoseOfItsPart) {
  for (const Sizes& local : {Sizes{8, 8}, {25, 10}, {10, 25}, {1, 1}, {7, 30, 2}, {25, 10, 10}, {4}})
    for (int ranks = 1; ranks <= 12; ++ranks) {
      SCOPED_TRACE(fmt::format("{} x ... on {} ranks", local[0], ranks));
      std::string list;
      for (const auto n : local) list += fmt::format("{}{}", list.empty() ? "" : ", ", n);
      const auto box = resolved(fmt::format("problem: {{cells: [{}], local: true}}", list), ranks);
      auto grid = box.process_grid;
      const auto deck = config::Deck::parse("app: box", "box.yaml");
      resolve_process_grid(grid, "decomposition.process_grid", {"problem.cells", "cell", box.cells}, ranks, deck);
      for (std::size_t axis = 0; axis < local.size(); ++axis) EXPECT_EQ(box.cells[axis], local[axis] * grid[axis]);
    }
}

TEST(Sizing, FillAShareOfMemory) {
  const auto deck = "problem: {cells: [30, 10], memory_share: 0.5}";
  for (const int ranks : {1, 2, 3, 5}) {
    const double free = 1e7; // of each rank
    const auto box = resolved(deck, ranks, [&] { return free; });
    const auto& cells = box.cells;
    EXPECT_NEAR(static_cast<double>(cells[0]), 3.0 * static_cast<double>(cells[1]), 3);
    EXPECT_NEAR(static_cast<double>(cells[0] * cells[1]), 0.5 * free / 8 * ranks, 0.01 * free / 8 * ranks);
    EXPECT_TRUE(box.process_grid.empty());
  }
}

/// The next larger sizes would not fit.
TEST(Sizing, FillAShareAndNoMore) {
  for (const double free : {16.0, 100.0, 12345.0, 1e9}) {
    const auto n = resolved("problem: {cells: [1000], memory_share: 1}", 1, [&] { return free; }).cells[0];
    EXPECT_EQ(n, static_cast<std::int64_t>(free / 8));
  }
}

TEST(Sizing, OfARankFillAShareTogether) {
  const auto deck = "problem: {cells: [2, 1], local: true, memory_share: 0.25}";
  for (const int ranks : {1, 2, 3, 4}) {
    const auto box = resolved(deck, ranks, [] { return 4 * 8 * 20000.0; });
    EXPECT_NEAR(static_cast<double>(box.cells[0] * box.cells[1]), 20000.0 * ranks, 300.0 * ranks);
    auto grid = box.process_grid;
    resolve_process_grid(grid, "decomposition.process_grid", {"problem.cells", "cell", box.cells}, ranks,
                         config::Deck::parse("app: box", "box.yaml"));
    EXPECT_NEAR(static_cast<double>(box.cells[0]) / static_cast<double>(grid[0]),
                2 * static_cast<double>(box.cells[1]) / static_cast<double>(grid[1]), 2);
  }
}

TEST(Sizing, WhatCannotBeIsRefused) {
  const auto nobody_says = [] { return std::numeric_limits<double>::infinity(); };
  expect_refused("problem: {cells: [4, 4], memory_share: 0.5}", 2, nobody_says,
                 {"box.yaml:2", "problem.memory_share", "0.5", "problem.cells"});
  expect_refused("problem: {cells: [4, 4], memory_share: 0.5}", 1, [] { return 15.0; },
                 {"box.yaml:2", "problem.memory_share", "7.5 bytes", "8 bytes"});
  expect_refused("problem: {cells: [1099511627776, 4], local: true}", 2, no_memory,
                 {"box.yaml:2", "problem.cells", "2199023255552", "1099511627776"});
  expect_refused("problem: {cells: [4, 4], local: true}\ndecomposition: {process_grid: [3, 1]}", 2, no_memory,
                 {"box.yaml:3", "decomposition.process_grid", "3 ranks", "2"});
  for (const auto* share : {"0", "1.5", "-1", "all"})
    expect_refused(fmt::format("problem: {{cells: [4, 4], memory_share: {}}}", share), 1, no_memory,
                   {"box.yaml:2", "problem.memory_share", share});
}

} // namespace
} // namespace kontor::grid::test

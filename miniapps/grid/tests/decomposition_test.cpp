// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every cell and every point is some rank's, and only that one's; sizes of a rank and of a share of memory.
#include "common.hpp"
#include "grid/axis_parts.hpp"
#include "grid/regions.hpp"
#include "grid/sizing.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

#include <limits>
#include <string>

namespace kontor::grid::test {
namespace {

TEST(AxisParts, FollowEachOtherAndDifferByOneAtMost) {
  for (const std::int64_t n : {1, 2, 7, 8, 9, 1000003}) {
    for (int parts = 1; parts <= std::min<std::int64_t>(n, 8); ++parts) {
      std::int64_t next = 0;
      for (int p = 0; p < parts; ++p) {
        const auto part = part_of_axis(n, parts, p);
        EXPECT_EQ(part.begin, next);
        EXPECT_TRUE(part.size() == n / parts || part.size() == n / parts + 1);
        next = part.end;
        EXPECT_EQ(part_begin(n, parts, p), n * p / parts);
        EXPECT_EQ(part_begin(n, parts, p + 2 * parts), 2 * n + part_begin(n, parts, p));
      }
      EXPECT_EQ(next, n);
    }
  }
}

/// Against all grids of so many ranks, by counting the values on both sides of all cuts.
TEST(ProcessGrid, HasTheSmallestSurface) {
  for (const std::int64_t least : {1, 3}) {
    for (int ranks = 1; ranks <= 8; ++ranks) {
      for (const std::vector<std::int64_t>& n : {std::vector<std::int64_t>{13, 5, 8}, {64, 3, 3}, {9, 9, 9}}) {
        const auto surface = [&](const std::vector<int>& g) {
          return (g[0] - 1) * n[1] * n[2] + (g[1] - 1) * n[0] * n[2] + (g[2] - 1) * n[0] * n[1];
        };
        std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
        for (int x = 1; x <= ranks; ++x)
          for (int y = 1; y <= ranks; ++y)
            for (int z = 1; z <= ranks; ++z) {
              const auto fits = [&](int parts, int d) { return parts == 1 || n[d] / parts >= least; };
              if (x * y * z == ranks && fits(x, 0) && fits(y, 1) && fits(z, 2))
                smallest = std::min(smallest, surface({x, y, z}));
            }
        const auto grid = smallest_surface_grid(ranks, n, least);
        if (smallest == std::numeric_limits<std::int64_t>::max()) {
          EXPECT_TRUE(grid.empty());
          continue;
        }
        ASSERT_EQ(grid.size(), 3u);
        EXPECT_EQ(grid[0] * grid[1] * grid[2], ranks);
        EXPECT_EQ(surface(grid), smallest);
      }
    }
  }
}

std::string refusal(std::vector<std::int64_t> process_grid, const std::vector<std::int64_t>& extents, int ranks,
                    std::int64_t least = 1) {
  const auto deck = config::Deck::parse("app: x\nsplit:\n  over: []\nbox:\n  points: 3\n", "d.yaml");
  return error_of([&] {
    resolve_process_grid(process_grid, "split.over", {"box.points", "point", extents, least}, ranks, deck);
  });
}

TEST(ProcessGrid, ThatIsGivenMustFit) {
  EXPECT_EQ(refusal({2, 3}, {2, 3}, 6), "");
  EXPECT_EQ(refusal({}, {2, 3}, 6), "");
  expect_facts(refusal({2, 2}, {9, 9}, 6), {"d.yaml:3:9: split.over", "[2, 2]", "4 ranks", "there are 6"});
  expect_facts(refusal({6}, {9, 9}, 6), {"d.yaml:3:9: split.over", "length 1", "box.points is 2"});
  expect_facts(refusal({1, 6}, {9, 5}, 6), {"d.yaml:3:9: split.over", "[1, 6]", "5 points", "6 parts"});
  expect_facts(refusal({1, 6}, {9, 6}, 6, 2), {"split.over", "6 points", "6 parts", "needs 2"});
  expect_facts(refusal({}, {2, 2}, 5), {"d.yaml:5:11: box.points", "[2, 2]", "5 ranks", "one point"});
  expect_facts(refusal({}, {3, 3}, 4, 2), {"d.yaml:5:11: box.points", "4 ranks", "2 points"});
}

/// All ranks mark their own cells or points in a global array.
TEST(Blocks, CoverTheGridOnce) {
  for (const auto centering : {Centering::cells, Centering::points}) {
    for (const std::vector<std::int64_t>& extents : {std::vector<std::int64_t>{17}, {11, 9}, {8, 1, 13}, {8, 7, 9}}) {
      const auto dimensions = static_cast<int>(extents.size());
      const auto cartesian = cartesian_for(extents, std::vector<bool>(extents.size()));
      const UniformGrid grid{centering, extents, std::vector<double>(extents.size(), -1),
                             std::vector<double>(extents.size(), 0.25)};
      const auto block = make_block(grid, cartesian);
      const auto n = [&](int axis) { return axis < dimensions ? extents[axis] : 1; };
      const Kokkos::View<int*, Kokkos::HostSpace> owners("test/owners", n(0) * n(1) * n(2));
      for (std::int64_t k = 0; k < block.extents[2]; ++k)
        for (std::int64_t j = 0; j < block.extents[1]; ++j)
          for (std::int64_t i = 0; i < block.extents[0]; ++i)
            ++owners(((k + block.offset[2]) * n(1) + j + block.offset[1]) * n(0) + i + block.offset[0]);
      comm::allreduce(world(), owners, comm::ReduceOp::sum);
      for (std::size_t i = 0; i < owners.size(); ++i) ASSERT_EQ(owners(i), 1);

      const double half = centering == Centering::cells ? 0.5 : 0;
      for (int axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(block.global[axis], n(axis));
        const auto at = static_cast<double>(block.offset[axis] + 2) + half;
        EXPECT_EQ(block.coordinate(axis, 2), axis < dimensions ? -1 + at * 0.25 : 0);
        EXPECT_EQ(block.at_boundary(2 * axis), axis < dimensions && block.offset[axis] == 0);
        EXPECT_EQ(block.at_boundary(2 * axis + 1),
                  axis < dimensions && block.offset[axis] + block.extents[axis] == n(axis));
      }
    }
  }
}

TEST(Blocks, ThatWrapHaveNoNeighboursThere) {
  const auto cartesian = make_cartesian(world(), {world().size(), 1}, {true, true});
  const Block block = make_block({Centering::cells, {64, 3}, {}, {}}, cartesian, 1, Wrapping::by_kernel);
  EXPECT_EQ(block.wraps[0], world().size() == 1);
  EXPECT_TRUE(block.wraps[1]);
  for (int face = 0; face < face_count; ++face) {
    EXPECT_FALSE(block.at_boundary(face));
    EXPECT_EQ(block.neighbours[face] != comm::no_rank, face < 2 && world().size() > 1);
  }
}

TEST(Regions, InteriorAndStripsCoverTheBlockOnce) {
  for (const int dimensions : {2, 3}) {
    for (int open = 0; open < 64; ++open) {
      for (const int ghosts : {1, 2}) {
        Block block;
        block.dimensions = dimensions;
        block.ghosts = ghosts;
        block.extents = block.global = {19, 5, dimensions == 3 ? 2 : 1};
        for (int face = 0; face < 2 * dimensions; ++face)
          if (open >> face & 1) block.neighbours[face] = 1;
        const auto regions = split(block, 8);
        std::vector<int> covered(static_cast<std::size_t>(block.all().size()));
        const auto cover = [&](const Box& box) {
          for (auto k = box.begin[2]; k < box.end[2]; ++k)
            for (auto j = box.begin[1]; j < box.end[1]; ++j)
              for (auto i = box.begin[0]; i < box.end[0]; ++i) ++covered[(k * 5 + j) * 19 + i];
        };
        cover(regions.interior);
        for (const auto& strip : regions.strips) cover(strip);
        EXPECT_EQ(std::count(covered.begin(), covered.end(), 1), block.all().size()) << "open faces " << open;
        for (int axis = 0; axis < dimensions && !regions.interior.empty(); ++axis) {
          const auto thickness = axis == 0 ? 8 : ghosts;
          const auto open_face = [&](int face) { return open >> face & 1 ? thickness : 0; };
          EXPECT_EQ(regions.interior.begin[axis], open_face(2 * axis));
          EXPECT_EQ(regions.interior.end[axis], block.extents[axis] - open_face(2 * axis + 1));
        }
      }
    }
  }
}

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

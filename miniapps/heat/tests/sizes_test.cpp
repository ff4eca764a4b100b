// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cells of a rank, and those that fill a share of a memory that the test makes up.
#include "run.hpp"
#include "run/tests/sized.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kontor::heat::test {
namespace {

Options sized(const std::string& problem, int ranks, double free_memory) {
  return miniapp::test::sized<Options>("heat", "problem: {" + problem + "}", ranks, free_memory);
}

double cells(const Options& options) {
  double product = 1;
  for (const auto n : options.cells) product *= static_cast<double>(n);
  return product;
}

TEST(Sizes, OfARank) {
  for (const int ranks : {1, 2, 3}) {
    const auto options = sized("cells: [24, 20, 16], local: true", ranks, 0);
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_EQ(options.cells[axis], (std::array{24, 20, 16})[axis] * options.process_grid[axis]);
    EXPECT_EQ(cells(options), 24. * 20 * 16 * ranks);
  }
}

/// Two fields, and a source where there is one; ghosts and padding are a few per cent of so many cells.
TEST(Sizes, FillAShareOfMemory) {
  constexpr double free = 8e8;
  for (const int ranks : {1, 2, 3})
    for (const std::string local : {"", ", local: true"}) {
      SCOPED_TRACE(std::to_string(ranks) + local);
      const auto filled = [&](const std::string& more) {
        return cells(sized("cells: [40, 30], memory_share: 0.25" + more + local, ranks, free)) / ranks;
      };
      EXPECT_NEAR(filled(""), 0.25 * free / 16, 0.005 * free / 16);
      EXPECT_NEAR(filled(", precision: float"), 0.25 * free / 8, 0.005 * free / 8);
      EXPECT_NEAR(filled(", source: x"), 0.25 * free / 24, 0.005 * free / 24);
      EXPECT_LE(filled(""), 0.25 * free / 16);
    }
}

} // namespace
} // namespace kontor::heat::test

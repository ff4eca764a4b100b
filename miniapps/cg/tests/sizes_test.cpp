// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The points or elements of a rank, and those that fill a share of a memory that the test makes up.
#include "cg/options.hpp"
#include "refusal.hpp"
#include "run/tests/sized.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kontor::cg::test {
namespace {

Options sized(const std::string& problem, int ranks, double free_memory) {
  return miniapp::test::sized<Options>("cg", "problem: {" + problem + "}", ranks, free_memory);
}

const std::string elements = "kind: fe_heat, fe_heat: {elements: [20, 10, 10], boundary: {x_min: "
                             "{temperature: 1}}}, ";
const std::string points = "kind: stencil, stencil: {points: [20, 10, 10]}, ";

std::vector<std::int64_t> sizes_of(const Options& options) {
  return options.kind == ProblemKind::stencil ? options.stencil.points : options.fe_heat.elements;
}

double product(const std::vector<std::int64_t>& sizes) {
  return static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) * static_cast<double>(sizes[2]);
}

TEST(Sizes, OfARank) {
  for (const auto& problem : {elements, points})
    for (const int ranks : {1, 2, 3, 8}) {
      const auto options = sized(problem + "local: true", ranks, 0);
      for (int axis = 0; axis < 3; ++axis)
        EXPECT_EQ(sizes_of(options)[axis], (axis == 0 ? 20 : 10) * options.process_grid[axis]);
    }
}

/// A csr matrix of 27 entries of 12 bytes a row with vectors around it.
TEST(Sizes, FillAShareOfMemory) {
  for (const auto& problem : {elements, points})
    for (const int ranks : {1, 2, 3}) {
      const auto sizes = sizes_of(sized(problem + "memory_share: 0.5", ranks, 4e8));
      const double bytes = 2e8 / (product(sizes) / ranks);
      EXPECT_GT(bytes, 27 * 12);
      EXPECT_LT(bytes, 27 * 12 + 200);
      EXPECT_NEAR(static_cast<double>(sizes[0]) / static_cast<double>(sizes[1]), 2, 0.05);
      const auto half = sizes_of(sized(problem + "memory_share: 0.25", ranks, 4e8));
      EXPECT_NEAR(product(half), product(sizes) / 2, 0.05 * product(sizes));
    }
}

TEST(Sizes, OfAFileAreWhatTheyAre) {
  for (const std::string key : {"local: true", "memory_share: 0.5"})
    expect_facts(error_of([&] { sized("kind: matrix_market, matrix_market: {file: a.mtx}, " + key, 1, 1e9); }),
                 {"deck.yaml:2:", "problem." + key.substr(0, key.find(':')), "problem.kind"});
}

} // namespace
} // namespace kontor::cg::test

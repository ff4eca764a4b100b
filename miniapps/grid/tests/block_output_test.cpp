// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks as parts of datasets, and the grid as output formats describe it.
#include "grid/block_output.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace kontor::grid::test {
namespace {

TEST(BlockOutput, HasTheAxesOfFiles) {
  Block block;
  block.dimensions = 2;
  block.global = {7, 9, 1};
  block.offset = {3, 4, 0};
  block.extents = {4, 5, 1};
  block.lower = {-1, 2, 0};
  block.spacing = {0.5, 0.25, 1};
  using Extents = std::vector<std::uint64_t>;
  const auto part = block_in_file(block);
  EXPECT_EQ(part.global, (Extents{9, 7}));
  EXPECT_EQ(part.offset, (Extents{4, 3}));
  EXPECT_EQ(part.extent, (Extents{5, 4}));
  for (const auto centering : {Centering::cells, Centering::points}) {
    block.centering = centering;
    const auto image = image_of(block);
    const std::uint64_t less = centering == Centering::points ? 1 : 0;
    EXPECT_EQ(image.dimensions, 2);
    EXPECT_EQ(image.cells, (std::array<std::uint64_t, 3>{7 - less, 9 - less, 1}));
    EXPECT_EQ(image.origin, (std::array{-1.0, 2.0, 0.0}));
    EXPECT_EQ(image.spacing, (std::array{0.5, 0.25, 1.0}));
    const auto field = mesh_field<float>(block, "T", "/fields/T");
    EXPECT_EQ(output::extents(image, field.centering), part.global);
    EXPECT_EQ(field.scalar, output::Scalar::float32);
  }
}

} // namespace
} // namespace kontor::grid::test

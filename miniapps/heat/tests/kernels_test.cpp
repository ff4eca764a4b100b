// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The row kernel against the plain one, cell by cell and bit by bit; and their norms.
#include "heat/kernels/plain.hpp"
#include "heat/kernels/sweep.hpp"
#include "scrambled.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

namespace kontor::heat::test {
namespace {

using Instance = FieldView<double>::execution_space;

using Parameters = std::tuple<int /*dimensions*/, bool /*sourced*/, Norm, bool /*streaming*/, double /*step*/>;
class Kernels : public testing::TestWithParam<Parameters> {
 protected:
  template <class T>
  void compare(const Index3& cells, const Box& box) const {
    const auto [dimensions, sourced, norm, streaming, step] = GetParam();
    const auto block = make_test_block(dimensions, cells);
    const auto in = make_input<T>(block, sourced, step);
    const auto plain = grid::make_field<T>("heat/plain", block);
    const auto rows = grid::make_field<T>("heat/rows", block);
    double norm_plain = 0;
    PassRoom<T> room("heat/pass", 0, 0);
    plain_sweep(Instance(), in, plain, box, norm, &norm_plain);
    const double norm_rows = sweep_in_rows(Instance(), in, rows, box, norm, {1, streaming}, room);
    EXPECT_EQ(0, std::memcmp(plain.data(), rows.data(), plain.span() * sizeof(T)));
    if (norm == Norm::none)
      EXPECT_EQ(norm_rows, 0);
    else
      EXPECT_GT(norm_plain, 0);
    if (norm == Norm::max)
      EXPECT_EQ(norm_rows, norm_plain);
    else
      EXPECT_NEAR(norm_rows, norm_plain, 1e-12 * norm_plain);
  }
};

/// A pass over a box gives what as many plain sweeps of a margin around it give, on each kind of side: where the grid
/// ends, and where ghosts are cells of other ranks.
template <class T>
void compare_pass(const Index3& cells, const Box& box, int dimensions, const PassShape& shape, unsigned ends) {
  auto block = make_test_block(dimensions, cells);
  block.ghosts = shape.sweeps;
  for (int face = 0; face < 2 * dimensions; ++face)
    if ((ends >> face & 1u) == 0) block.neighbours[face] = 0;
  auto in = make_input<T>(block, false, 0.01);
  in.block.ghosts = 1;
  for (int face = 0; face < 2 * dimensions; ++face)
    if (!block.at_boundary(face)) in.stencil.adjust[face] = 0;
  const FieldView<T> deep[] = {in.u, grid::make_field<T>("heat/plain", block)};
  const auto rows = grid::make_field<T>("heat/rows", block);
  Kokkos::deep_copy(deep[1], in.u);
  Kokkos::deep_copy(rows, in.u);
  auto expected = rows; // the margins as the plain sweeps need them
  in.u = grid::with_one_ghost<T>(deep[0], block);
  PassRoom<T> room("heat/pass", 0, 0);
  sweep_in_rows(Instance(), in, grid::with_one_ghost<T>(rows, block), box, Norm::none, shape, room);
  for (int sweep = 1; sweep <= shape.sweeps; ++sweep) {
    Box margin = box;
    for (int axis = 0; axis < dimensions; ++axis) {
      margin.begin[axis] =
          std::max<std::int64_t>(box.begin[axis] - (shape.sweeps - sweep), block.at_boundary(2 * axis) ? 0 : -100);
      margin.end[axis] =
          std::min(box.end[axis] + (shape.sweeps - sweep), cells[axis] + (block.at_boundary(2 * axis + 1) ? 0 : 100));
    }
    double none = 0;
    in.u = grid::with_one_ghost<T>(deep[1 - sweep % 2], block);
    plain_sweep(Instance(), in, grid::with_one_ghost<T>(deep[sweep % 2], block), margin, Norm::none, &none);
    expected = deep[sweep % 2];
  }
  for (auto k = box.begin[2]; k < box.end[2]; ++k)
    for (auto j = box.begin[1]; j < box.end[1]; ++j)
      for (auto i = box.begin[0]; i < box.end[0]; ++i) {
        const Box cell{{i, j, k}, {i + 1, j + 1, k + 1}};
        ASSERT_EQ(grid::view_of(rows, block, cell)(0, 0, 0), grid::view_of(expected, block, cell)(0, 0, 0))
            << shape.sweeps << " sweeps, ends " << ends << ", cell " << i << ", " << j << ", " << k;
      }
}

TEST(Passes, AreTheirSweeps) {
  unsigned ends = 1;
  for (const int dimensions : {2, 3})
    for (const int sweeps : {2, 3, 8})
      for (const bool streaming : {false, true})
        each_box(dimensions, [&](const Index3& cells, const Box& box) {
          for (const std::int64_t cache : {1, 100000}) {
            ends = (ends * 5 + 3) % 64;
            compare_pass<double>(cells, box, dimensions, {sweeps, streaming, 64, cache}, ends);
            compare_pass<float>(cells, box, dimensions, {sweeps, streaming, 0, cache}, ends ^ 63u);
          }
        });
}

/// Cells outside the box keep what they had (zero in both fields).
TEST_P(Kernels, AgreeInEveryBox) {
  each_box(std::get<0>(GetParam()), [&](const Index3& cells, const Box& box) {
    compare<double>(cells, box);
    compare<float>(cells, box);
  });
}

INSTANTIATE_TEST_SUITE_P(Heat, Kernels,
                         testing::Combine(testing::Values(2, 3), testing::Bool(),
                                          testing::Values(Norm::none, Norm::max, Norm::l2), testing::Bool(),
                                          testing::Values(0.0, 0.01)));

} // namespace
} // namespace kontor::heat::test

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
    plain_sweep(Instance(), in, plain, box, norm, &norm_plain);
    const double norm_rows = sweep_in_rows(Instance(), in, rows, box, norm, streaming);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The row kernel against the plain one, cell by cell and bit by bit; and their norms.
#include "heat/kernels/pass.hpp"
#include "heat/kernels/plain.hpp"
#include "pass_case.hpp"

#include <gtest/gtest.h>

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

/// A pass over a box gives what as many plain sweeps give.
template <class T>
void compare_pass(const Index3& cells, const Box& box, int dimensions, const PassShape& shape, unsigned ends) {
  const PassCase<T> of(cells, dimensions, shape.sweeps, ends, ends % 3 == 0);
  const auto rows = of.result();
  PassRoom<T> room("heat/pass", 0, 0);
  sweep_in_rows(Instance(), of.in, grid::with_one_ghost<T>(rows, of.block), box, Norm::none, shape, room);
  of.expect_sweeps(rows, box, shape.sweeps);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the compiler leaves arithmetic as it is written, without which no exact sum is right.
#include <kontor/sums/block_sum.hpp>

#include <gtest/gtest.h>

namespace kontor::sums::test {
namespace {

constexpr const char* reason =
    "the compiler does not leave arithmetic as it is written: it reassociates or contracts (-ffast-math, "
    "-fp-model=fast, -ffp-contract=fast and the like); no other test of sums can be right";

/// At run time: what the compiler could know it would add without an error.
double written(double value) {
  volatile double hidden = value;
  return hidden;
}

TEST(Arithmetic, IsNotReassociated) {
  const double small = written(0x1p-60);
  const double one = written(1);
  EXPECT_EQ((one + small) - one, 0) << reason;
  const double half = written(0x1p-53);
  EXPECT_EQ((one + half) + half, 1) << reason;
}

/// A product and a difference in one instruction would leave what rounding the product cuts off.
TEST(Arithmetic, IsNotContracted) {
  const double x = written(1 + 0x1p-30);
  const double y = written(1 + 0x1p-29);
  EXPECT_EQ(x * x - y, 0) << reason;
}

/// The same of the library, which may be compiled with other flags than this: a value whose last bits are taken by the
/// second level.
TEST(Arithmetic, OfTheLibrary) {
  BlockSum sum;
  const double values[] = {1, 0x1p-60, -1, 0x1p-120};
  for (int i = 0; i < 4; ++i) sum.values()[i] = values[i];
  sum.add(4);
  std::int64_t digits[length] = {};
  sum.move_to(digits);
  EXPECT_EQ(rounded(digits), 0x1p-60) << reason;
  for (const double value : {-0x1p-60, -0x1p-120}) add_value(digits, value);
  EXPECT_EQ(rounded(digits), 0) << reason;
}

} // namespace
} // namespace kontor::sums::test

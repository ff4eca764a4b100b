// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes of a rank, and those that fill a share of a memory that the test makes up.
#include "matmul/options.hpp"
#include "run/tests/refusal.hpp"
#include "run/tests/sized.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kontor::matmul::test {
namespace {

Options sized(const std::string& text, int ranks, double free_memory) {
  return miniapp::test::sized<Options>("matmul", text, ranks, free_memory);
}

double number(std::int64_t n) { return static_cast<double>(n); }

/// Parts of A and B of a rank have as many elements as one rank's matrices, and its part of C is m x n.
TEST(Sizes, OfARank) {
  for (const int ranks : {1, 2, 3, 4, 6, 8, 12})
    for (const std::string product : {"", "product: {algorithm: summa}\n"}) {
      const auto o = sized("problem: {m: 100, n: 200, k: 300, local: true}\n" + product, ranks, 0);
      const auto rows = o.process_grid[0], columns = o.process_grid[1];
      EXPECT_EQ(rows * columns, ranks);
      EXPECT_EQ(o.size.m, 100 * rows);
      EXPECT_EQ(o.size.n, 200 * columns);
      EXPECT_NEAR(100 * number(o.size.k) / number(columns) + 200 * number(o.size.k) / number(rows), 300. * 300, 300);
    }
  EXPECT_EQ(sized("problem: {m: 10, n: 10, k: 10, local: true}", 9, 0).size.k, 30);
  const auto layers = sized("problem: {m: 10, n: 10, k: 10, local: true}\n"
                            "product: {algorithm: cannon_25d, layers: 2}",
                            8, 0);
  EXPECT_EQ(layers.size.m, 20);
  EXPECT_EQ(layers.size.k, 20);
}

/// On one rank three matrices; on four, blocks of A and B twice.
TEST(Sizes, FillAShareOfMemory) {
  for (const std::string precision : {"double", "float"}) {
    const double element = precision == "double" ? 8 : 4;
    const auto filled = [&](int ranks) {
      const auto size =
          sized("problem: {m: 100, n: 100, k: 100, memory_share: 0.5, precision: " + precision + "}", ranks, 4e9).size;
      EXPECT_EQ(size.m, size.n);
      EXPECT_EQ(size.m, size.k);
      return number(size.m) * number(size.m) * element;
    };
    EXPECT_NEAR(filled(1), 2e9 / 3, 0.03 * 2e9);
    EXPECT_NEAR(filled(4), 4 * 2e9 / 5, 0.03 * 4 * 2e9);
  }
}

TEST(Sizes, ThatAreTooLargeAreRefused) {
  miniapp::test::expect_facts(miniapp::test::error_of([] {
                                sized("problem: {n: 2000000000, local: true}\ndecomposition: {process_grid: [1, 2]}", 2,
                                      0);
                              }),
                              {"deck.yaml:2:", "problem.n", "problem.local", "4000000000", "2147483647"});
}

} // namespace
} // namespace kontor::matmul::test

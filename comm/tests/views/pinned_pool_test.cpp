// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pinned memory that is kept for the next use.
#include <kontor/comm/views/pinned_pool.hpp>

#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

TEST(PinnedPool, BlocksAreUsedAgain) {
  detail::PinnedPool pool;
  const void* first = nullptr;
  {
    const auto block = pool.take(5000);
    first = block.data();
    EXPECT_GE(block.size(), 5000u);
    const auto second = pool.take(100);
    EXPECT_NE(second.data(), first);
  }
  const auto large = pool.take(6000);
  EXPECT_EQ(large.data(), first);
  const auto small = pool.take(1);
  EXPECT_NE(small.data(), first);
  EXPECT_GE(pool.take(100000).size(), 100000u);
}

} // namespace
} // namespace kontor::comm::test

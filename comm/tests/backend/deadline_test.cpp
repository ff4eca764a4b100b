// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/deadline.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace kontor::comm::test {
namespace {

TEST(Deadline, CountsNoSuspension) {
  int turns = 0;
  EXPECT_TRUE(mpi::Deadline(1).wait([&] {
    if (++turns == 50) std::this_thread::sleep_for(std::chrono::milliseconds(1500)); // as if the process was stopped
    return turns == 1000;
  }));
  EXPECT_FALSE(mpi::Deadline(0.05).wait([] { return false; }));
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/distribution.hpp"
#include "machine/noise.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace kontor;
using namespace kontor::miniapp;

TEST(Distribution, HasTheQuantilesOfAllRanks) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const int ranks = comm.size();
  Distribution mine;
  for (int i = comm.rank(); i < 1000; i += ranks) mine.add(1e-6 * (i + 1)); // 1 to 1000 us, dealt out
  const auto all = mine.over_ranks(comm);
  if (comm.rank() != 0) return;
  EXPECT_EQ(all.count, 1000);
  EXPECT_NEAR(all.p50, 500e-6, 0.005 * 500e-6);
  EXPECT_NEAR(all.p95, 950e-6, 0.005 * 950e-6);
  EXPECT_NEAR(all.p99, 990e-6, 0.005 * 990e-6);
  EXPECT_EQ(all.max, 1000e-6);
  EXPECT_EQ(all.slowest_rank, 999 % ranks);
}

TEST(Distribution, CountsWhatItsBinsDoNotReachButNotZero) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  Distribution mine;
  for (const double sample : {0.0, -1.0, 1e-12, 1e6}) mine.add(sample);
  auto all = mine.over_ranks(comm);
  if (comm.rank() == 0) {
    EXPECT_EQ(all.count, 2 * comm.size());
    EXPECT_EQ(all.max, 1e6);
    EXPECT_LT(all.p50, 1e-9);
  }
  mine.clear();
  all = mine.over_ranks(comm);
  EXPECT_EQ(all.count, 0);
  EXPECT_EQ(all.p99, 0);
}

TEST(Noise, IsRelativeToTheFastestSampleOfARank) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const double fastest = 1e-4 * (1 + comm.rank()); // a slower rank is no noise
  std::vector<double> seconds(100, 1.25 * fastest);
  seconds[7] = fastest;
  if (comm.rank() == comm.size() - 1) seconds[3] = 3 * fastest;
  const auto noise = noise_of(comm, seconds);
  if (comm.rank() != 0) return;
  EXPECT_EQ(noise.quantum, 1e-4);
  EXPECT_EQ(noise.samples, 100 * comm.size());
  EXPECT_NEAR(noise.p50, 1.25, 0.002);
  EXPECT_NEAR(noise.p99, 1.25, 0.002);
  EXPECT_DOUBLE_EQ(noise.max, 3);
  EXPECT_EQ(noise.slowest_rank, comm.size() - 1);
}

TEST(Noise, IsMeasured) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const auto noise = measure_noise(comm);
  if (comm.rank() != 0) return;
  EXPECT_GT(noise.quantum, 0);
  EXPECT_GE(noise.samples, comm.size());
  EXPECT_LE(noise.samples, 400 * comm.size());
  EXPECT_LE(noise.p50, noise.p99);
  EXPECT_LE(noise.p50, noise.max * 1.01);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/calibrate.hpp"
#include "machine/cores.hpp"
#include "machine/gather_to_root.hpp"
#include "machine/link.hpp"
#include "machine/node.hpp"
#include "machine/stream.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace kontor;
using namespace kontor::miniapp;

LinkPartners choose(std::vector<int> nodes) {
  return choose_partners(nodes);
}

TEST(Partners, OneRankHasNone) {
  EXPECT_FALSE(choose({0}).of_one_node);
  EXPECT_FALSE(choose({0}).of_two_nodes);
}

TEST(Partners, OnOneNodeAreTheFirstTwo) {
  EXPECT_EQ(choose({0, 0, 0}).of_one_node, (Partners{0, 1}));
  EXPECT_FALSE(choose({0, 0, 0}).of_two_nodes);
}

TEST(Partners, OnTwoNodesAreOfBothKinds) {
  EXPECT_EQ(choose({0, 0, 2, 2}).of_one_node, (Partners{0, 1}));
  EXPECT_EQ(choose({0, 0, 2, 2}).of_two_nodes, (Partners{0, 2}));
}

TEST(Partners, RanksMayGoRound) {
  EXPECT_EQ(choose({0, 1, 2, 0, 1, 2}).of_one_node, (Partners{0, 3}));
  EXPECT_EQ(choose({0, 1, 2, 0, 1, 2}).of_two_nodes, (Partners{0, 1}));
}

TEST(Partners, TheFirstNodeMayHaveOneRank) {
  EXPECT_EQ(choose({9, 1, 5, 5, 1}).of_one_node, (Partners{1, 4}));
  EXPECT_EQ(choose({9, 1, 5, 5, 1}).of_two_nodes, (Partners{0, 1}));
}

TEST(Partners, OneRankANodeHasNoneOfOneNode) {
  EXPECT_FALSE(choose({0, 1, 2}).of_one_node);
  EXPECT_EQ(choose({0, 1, 2}).of_two_nodes, (Partners{0, 1}));
}

TEST(Partners, OfTheCommunicatorAreEqualOnAllRanks) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const auto partners = link_partners(comm);
  EXPECT_EQ(partners.of_one_node.has_value(), comm.size() > 1);
  if (comm.size() > 1) {
    EXPECT_EQ(partners.of_one_node, (Partners{0, 1}));
  }
  EXPECT_FALSE(partners.of_two_nodes) << "tests run on one node";
}

TEST(Link, IsTimedBetweenAnyTwo) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 3) GTEST_SKIP();
  const auto link = time_link(comm, {2, 1});
  EXPECT_GT(link.latency, 0);
  EXPECT_GT(link.bandwidth, 0);
}

TEST(GatherToRoot, KeepsTheOrderOfRanks) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const std::vector<double> mine(static_cast<std::size_t>(comm.rank()), comm.rank());
  std::vector<std::int64_t> counts;
  const auto all = gather_to_root(comm, std::span<const double>(mine), &counts);
  const auto texts = gather_texts(comm, std::string(static_cast<std::size_t>(comm.rank()), 'x'));
  if (comm.rank() != 0) {
    EXPECT_TRUE(all.empty() && counts.empty() && texts.empty());
    return;
  }
  std::vector<double> expected;
  for (int r = 0; r < comm.size(); ++r) {
    EXPECT_EQ(counts[r], r);
    EXPECT_EQ(texts[r], std::string(r, 'x'));
    expected.insert(expected.end(), r, r);
  }
  EXPECT_EQ(all, expected);
}

TEST(Calibration, WhatIsNotAskedForIsNotMeasured) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const auto machine = calibrate_for(comm, {}, {});
  EXPECT_EQ(machine.working_set, 0);
  EXPECT_EQ(machine.working_set_bandwidth, 0);
  EXPECT_EQ(machine.large_bandwidth, 0);
  EXPECT_FALSE(machine.gemm);
}

TEST(Calibration, WhatIsAskedForIsMeasured) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  int calls = 0;
  CalibrationRequest request;
  request.working_set = comm.rank() == 0 ? 24e3 : 12e3;
  request.message = comm.rank() == 0 ? 8 : timed_message + 8;
  request.gemm = [&](const comm::Communicator&) {
    ++calls;
    return GemmRate{.rate = 7};
  };
  const auto machine = calibrate_for(comm, request, {.latency = 3});
  EXPECT_EQ(machine.latency, 3);
  EXPECT_EQ(machine.working_set, 24e3);
  EXPECT_GT(machine.working_set_bandwidth, 0);
  EXPECT_EQ(machine.attainable_bandwidth(), machine.working_set_bandwidth);
  EXPECT_EQ(machine.large_message, comm.size() > 1 ? timed_message + 8 : 0);
  EXPECT_EQ(machine.large_bandwidth > 0, comm.size() > 1);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(machine.gemm.value().rate, 7);
}

TEST(Cores, AreToldAsRanges) {
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({5}), "5");
  EXPECT_EQ(ranges({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(Calibration, OfAWorkingSetThatNoCacheHoldsIsTheTriads) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const auto machine = calibrate_for(comm, {.working_set = 2 * streamed_bytes(comm)}, {.triad_bandwidth = 5});
  EXPECT_EQ(machine.working_set_bandwidth, 0);
  EXPECT_EQ(machine.attainable_bandwidth(), 5);
}

} // namespace

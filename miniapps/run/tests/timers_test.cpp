// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/per_rank.hpp"
#include "run/record/timers.hpp"
#include "run/tests/refusal.hpp"

#include <kontor/comm/error.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace kontor;
using namespace kontor::miniapp;

TEST(Timers, ARegionIsAddedUpUntilReset) {
  Timers timers;
  auto& compute = timers["compute"];
  compute.add(2);
  compute.add(0.5, 3);
  EXPECT_EQ(&timers["compute"], &compute);
  EXPECT_EQ(compute.seconds, 2.5);
  EXPECT_EQ(compute.calls, 4);
  timers.reset();
  EXPECT_EQ(timers.entries().at("compute").seconds, 0);
  EXPECT_EQ(timers.entries().at("compute").calls, 0);
  EXPECT_EQ(&timers["compute"], &compute);
}

TEST(Timers, WhatIsTimedOnceARunStays) {
  Timers timers;
  timers.once("structure").add(2);
  timers["compute"].add(1);
  timers.reset();
  EXPECT_EQ(timers.entries().at("structure").seconds, 2);
  EXPECT_EQ(timers.entries().at("structure").calls, 1);
  EXPECT_EQ(timers.entries().at("compute").seconds, 0);
  const comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& region : summarise(comm, timers)) EXPECT_EQ(region.once, region.region == "structure");
}

TEST(Timers, TheOwnerOfARegionSaysWhatItsTimeGoesTo) {
  Timers timers;
  timers["sweeps"];
  timers.communication("reduce");
  timers.io("series");
  timers.once("structure");
  timers.once("read", RegionKind::io);
  timers.add(comm::PhaseTimes{});
  std::map<std::string, std::string> kinds;
  std::set<std::string> inside;
  for (const auto& [region, timer] : timers.entries()) {
    kinds[region] = name_of(timer.kind);
    if (!timer.outside()) inside.insert(region);
  }
  EXPECT_EQ(kinds, (std::map<std::string, std::string>{{"sweeps", "compute"},
                                                       {"reduce", "communication"},
                                                       {"series", "io"},
                                                       {"structure", "other"},
                                                       {"read", "io"},
                                                       {"pack", "packing"},
                                                       {"unpack", "packing"},
                                                       {"post", "communication"},
                                                       {"wait", "communication"}}));
  EXPECT_EQ(inside, (std::set<std::string>{"sweeps", "reduce", "pack", "unpack", "post", "wait"}));
}

TEST(Timers, PhasesOfAnExchangeBecomeRegions) {
  Timers timers;
  timers.add({.pack = 1, .post = 2, .wait = 3, .unpack = 4, .exchanges = 5});
  const auto& entries = timers.entries();
  EXPECT_EQ(entries.at("pack").seconds, 1);
  EXPECT_EQ(entries.at("post").seconds, 2);
  EXPECT_EQ(entries.at("wait").seconds, 3);
  EXPECT_EQ(entries.at("unpack").seconds, 4);
  EXPECT_EQ(entries.at("wait").calls, 5);
}

std::vector<std::string>& opened_regions() { // Kokkos' callbacks carry no context of their own
  static std::vector<std::string> names;
  return names;
}

TEST(ScopedTimer, OpensARegionOfKokkosToolsAndAddsTheTime) {
  namespace Tools = Kokkos::Tools::Experimental;
  opened_regions().clear();
  Timers timers("ring");
  int open = 0;
  static int* open_regions = nullptr;
  open_regions = &open;
  Tools::set_push_region_callback([](const char* name) {
    opened_regions().emplace_back(name);
    ++*open_regions;
  });
  Tools::set_pop_region_callback([] { --*open_regions; });
  {
    const ScopedTimer scope(timers["compute"]);
    EXPECT_EQ(open, 1);
    comm::Stopwatch watch;
    for (double seconds = 0; seconds < 1e-3;) watch.lap(seconds);
  }
  { const ScopedTimer uncounted(timers["compute"], 0); }
  Tools::set_push_region_callback(nullptr);
  Tools::set_pop_region_callback(nullptr);
  EXPECT_EQ(open, 0);
  EXPECT_EQ(opened_regions(), std::vector<std::string>(2, "ring/compute"));
  EXPECT_GE(timers["compute"].seconds, 1e-3);
  EXPECT_EQ(timers["compute"].calls, 1);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Summary, IsOverAllRanks) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  Timers timers;
  timers["b"].add(comm.rank() == last ? 10 : comm.rank(), 7);
  timers["a"].add(1);
  const auto summary = summarise(comm, timers);
  if (comm.rank() != 0) {
    EXPECT_TRUE(summary.empty());
    return;
  }
  ASSERT_EQ(summary.size(), 2u);
  EXPECT_EQ(summary[0].region, "a");
  EXPECT_EQ(summary[0].min, 1);
  EXPECT_EQ(summary[0].max, 1);
  EXPECT_EQ(summary[0].mean, 1);
  const auto& b = summary[1];
  EXPECT_EQ(b.region, "b");
  EXPECT_EQ(b.calls, 7);
  EXPECT_EQ(b.slowest_rank, last);
  EXPECT_EQ(b.max, 10);
  const double mins[] = {10, 0, 0}, medians[] = {10, 5, 1}, sums[] = {10, 10, 11};
  EXPECT_EQ(b.min, mins[last]);
  EXPECT_EQ(b.median, medians[last]);
  EXPECT_EQ(b.mean, sums[last] / comm.size());
}

TEST(PerRank, HasTheSecondsOfEachRankAndRepeat) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  Timers timers;
  timers.once("structure").add(9);
  timers["wait"].add(1 + comm.rank());
  RepeatTimes times;
  times.add(10, timers);
  timers["wait"].add(0.5);
  timers["compute"].add(2 * comm.rank()); // asked for in the second repeat only
  timers.io("series").add(7);
  times.add(20 + comm.rank(), timers);
  const auto all = gather(comm, times);
  if (comm.rank() != 0) {
    EXPECT_TRUE(all.values.empty());
    return;
  }
  const auto json = to_json(all);
  EXPECT_EQ(json["regions"], (std::vector<std::string>{"compute", "wait"}));
  EXPECT_TRUE(json["useful"].is_boolean());
  ASSERT_EQ(json["seconds"].size(), 2u);
  ASSERT_EQ(json["seconds"][0].size(), static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    EXPECT_EQ(json["seconds"][0][rank], (std::vector<double>{0, 1.0 + rank})) << rank;
    EXPECT_EQ(json["seconds"][1][rank], (std::vector<double>{2.0 * rank, 0.5})) << rank;
    EXPECT_EQ(json["wall"][0][rank], 10) << rank;
    EXPECT_EQ(json["wall"][1][rank], 20 + rank) << rank;
  }
}

TEST(Summary, RefusesRanksWithOtherRegions) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "nobody differs";
  Timers timers;
  timers["compute"];
  if (comm.rank() == 1) timers["extra"];
  test::expect_facts(test::error_of<comm::AgreedError>([&] { summarise(comm, timers); }), {"rank 1", "compute, extra"});
}

} // namespace

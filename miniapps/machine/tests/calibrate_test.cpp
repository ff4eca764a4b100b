// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/make_field.hpp"
#include "machine/calibration.hpp"
#include "machine/cores.hpp"
#include "machine/first_touch.hpp"
#include "machine/gather_to_root.hpp"
#include "machine/link.hpp"
#include "machine/node.hpp"
#include "machine/stream.hpp"
#include "machine/stream_kernels.hpp"
#include "run/tests/first_ranks.hpp"
#include "tasks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <sys/resource.h>
#include <thread>

namespace {

using namespace kontor;
using namespace kontor::miniapp;
using namespace kontor::miniapp::test;

TEST(Partners, AreTheFirstOfOneNodeAndOfTwo) {
  const struct {
    std::vector<int> nodes;
    std::optional<Partners> of_one, of_two;
  } cases[] = {{{0}, {}, {}},
               {{0, 0, 0}, Partners{0, 1}, {}},
               {{0, 0, 2, 2}, Partners{0, 1}, Partners{0, 2}},
               {{0, 1, 2, 0, 1, 2}, Partners{0, 3}, Partners{0, 1}}, // they go round
               {{9, 1, 5, 5, 1}, Partners{1, 4}, Partners{0, 1}},    // the first node has one rank
               {{0, 1, 2}, {}, Partners{0, 1}}};
  for (const auto& c : cases) {
    const auto found = choose_partners(c.nodes);
    EXPECT_EQ(found.of_one_node, c.of_one) << testing::PrintToString(c.nodes);
    EXPECT_EQ(found.of_two_nodes, c.of_two) << testing::PrintToString(c.nodes);
  }
}

TEST(Partners, OfTheCommunicatorAreEqualOnAllRanks) {
  const auto partners = link_partners(world());
  EXPECT_EQ(partners.of_one_node.has_value(), world().size() > 1);
  if (world().size() > 1) {
    EXPECT_EQ(partners.of_one_node, (Partners{0, 1}));
  }
  EXPECT_FALSE(partners.of_two_nodes) << "tests run on one node";
}

TEST(Link, IsTimedBetweenAnyTwo) {
  if (world().size() < 3) GTEST_SKIP();
  const auto link = time_link(world(), {2, 1});
  EXPECT_GT(link.latency, 0);
  EXPECT_GT(link.bandwidth, 0);
}

TEST(GatherToRoot, KeepsTheOrderOfRanks) {
  auto mine = nlohmann::ordered_json::array(), expected = nlohmann::ordered_json::array();
  for (int row = 0; row < world().rank(); ++row) mine.push_back({{"rank", world().rank()}, {"bytes", "\xff"}});
  const auto table = gather_rows(world(), mine);
  for (int r = 0; r < world().size() && world().rank() == 0; ++r)
    expected.insert(expected.end(), static_cast<std::size_t>(r), {{"rank", r}, {"bytes", "\xff"}});
  EXPECT_EQ(table, expected);
}

TEST(StreamRates, TimeIsThatOfTheMix) {
  const StreamRates rates{.read = 60, .copy = 48, .triad = 44};
  EXPECT_DOUBLE_EQ(rates.seconds_for({.read = 120, .written = 0}), 2);
  EXPECT_DOUBLE_EQ(rates.seconds_for({.read = 24, .written = 24}), 1);
  EXPECT_DOUBLE_EQ(rates.seconds_for({.read = 72, .written = 24}), 1.8) << "48 at 60 and 48 at 48";
  EXPECT_DOUBLE_EQ(rates.seconds_for({.read = 24, .written = 48}), 1.5) << "all by the copy";
  EXPECT_TRUE(std::isnan(StreamRates{}.seconds_for({.read = 1, .written = 1})));
}

TEST(StreamRates, OfAWorkingSetAreTheLargerOnes) {
  Calibration machine{.memory = {.read = 10, .copy = 8}, .in_working_set = {.read = 40, .copy = 2}};
  EXPECT_DOUBLE_EQ(machine.seconds_for({.read = 40, .written = 0}), 1);
  EXPECT_DOUBLE_EQ(machine.seconds_for({.read = 4, .written = 4}), 1);
  EXPECT_DOUBLE_EQ(machine.seconds_for({.read = 4, .written = 4}, 1e30), 1) << "flops were not measured";
  machine.multiply_adds = 10;
  EXPECT_DOUBLE_EQ(machine.seconds_for({.read = 4, .written = 4}, 9), 1);
  EXPECT_DOUBLE_EQ(machine.seconds_for({.read = 4, .written = 4}, 25), 2.5) << "limited by arithmetic";
}

TEST(Stream, BytesAreSharedByTheRanksOfANode) {
  constexpr double mebi = 1 << 20;
  EXPECT_EQ(streamed_host_bytes(1), 192 * mebi);
  EXPECT_EQ(streamed_host_bytes(16), 96 * mebi);
  EXPECT_EQ(streamed_host_bytes(1000), 48 * mebi);
  if (!device::kernels_on_host) return; // a device's memory is shared by its own ranks
  EXPECT_EQ(streamed_bytes(world()), streamed_host_bytes(world().size()));
}

TEST(Stream, ReadsEachElementOnce) {
  for (const std::int64_t n : {1, 31, 32, 1000, 20001}) {
    std::vector<double> x(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 1);
    const double expected = static_cast<double>(n * (n + 1) / 2);
    for (const int threads : {1, 7}) {
      const stream::ReadRange<false> plain{x.data(), nullptr};
      const stream::ReadRange<true> ahead{x.data(), nullptr};
      const stream::ReadStrided strided{x.data(), n, threads, nullptr};
      double by_plain = 0, by_ahead = 0, by_strided = 0;
      const stream::Tiles tiles(n, threads);
      for (std::int64_t t = 0; t < tiles.count; ++t) {
        by_plain += plain.sum(tiles.begin(t), tiles.begin(t + 1));
        by_ahead += ahead.sum(tiles.begin(t), tiles.begin(t + 1));
      }
      for (std::int64_t t = 0; t < threads; ++t) by_strided += strided.sum(t);
      EXPECT_EQ(by_plain, expected);
      EXPECT_EQ(by_ahead, expected);
      EXPECT_EQ(by_strided, expected);
    }
  }
}

TEST(Stream, CopiesEachElementAndNoOther) {
  for (const std::int64_t n : {1, 127, 128, 20001}) {
    std::vector<double> from(static_cast<std::size_t>(n) + 1), to(from.size(), -1);
    std::iota(from.begin(), from.end(), 1);
    const stream::Tiles tiles(n, 3);
    for (std::int64_t t = 0; t < tiles.count; ++t)
      stream::StreamCopyRange{from.data(), to.data()}(tiles.begin(t), tiles.begin(t + 1));
    EXPECT_EQ(to.back(), -1);
    from.back() = -1;
    EXPECT_EQ(to, from);
  }
}

TEST(Stream, MeasuresAllPatternsOfAnySize) {
  for (const double bytes : {0., 8., 4096., 3e6})
    for (const bool huge_pages : {false, true}) {
      const auto rates = stream_rates(world(), bytes * (world().rank() + 1), huge_pages, 1);
      for (const double rate : {rates.read, rates.copy, rates.triad}) {
        EXPECT_GT(rate, 0);
        EXPECT_TRUE(std::isfinite(rate));
      }
    }
}

/// A number of the record; 0 if there is none.
double number(const Calibration& machine, const char* key) { return machine.record.value(key, 0.0); }

TEST(Calibration, WhatIsNotAskedForIsNotMeasured) {
  const auto machine = calibrate(world(), false, {});
  EXPECT_EQ(number(machine, "vector_bytes"), least_streamed_bytes());
  EXPECT_GT(machine.memory.triad, 0);
  EXPECT_EQ(number(machine, "working_set"), 0);
  EXPECT_EQ(machine.in_working_set.read, 0);
  EXPECT_FALSE(machine.gemm);
}

TEST(Calibration, VectorsAreAsLargeAsTheWorkingSetWithinLimits) {
  const double most = streamed_bytes(world());
  for (const double bytes : {least_streamed_bytes() + 8e3, 2 * most}) {
    const auto machine = calibrate(world(), false, {.working_set = world().rank() == 0 ? bytes : 8e3});
    EXPECT_EQ(number(machine, "vector_bytes"), std::min(bytes, most));
    EXPECT_EQ(number(machine, "working_set"), bytes);
    EXPECT_EQ(machine.in_working_set.read, 0);
    EXPECT_EQ(machine.seconds_for({.read = machine.memory.read, .written = 0}), 1);
  }
}

TEST(Calibration, WhatIsAskedForIsMeasured) {
  int calls = 0;
  CalibrationRequest request;
  request.working_set = world().rank() == 0 ? 24e3 : 12e3;
  request.gemm = [&](const comm::Communicator&) {
    ++calls;
    return GemmRate{.rate = 7};
  };
  const auto machine = calibrate(world(), false, request);
  EXPECT_EQ(number(machine, "latency") > 0, world().size() > 1);
  EXPECT_EQ(number(machine, "vector_bytes"), least_streamed_bytes());
  EXPECT_EQ(number(machine, "working_set"), 24e3);
  for (const double rate : {machine.in_working_set.read, machine.in_working_set.copy, machine.in_working_set.triad})
    EXPECT_GT(rate, 0);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(machine.gemm.value().rate, 7);
}

TEST(Cores, AreToldAsRanges) {
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({5}), "5");
  EXPECT_EQ(ranges({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

std::vector<long> page_faults_of_threads() {
  std::vector<long> faults(static_cast<std::size_t>(Kokkos::DefaultHostExecutionSpace().concurrency()));
  auto* const values = faults.data();
  Kokkos::parallel_for(Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, faults.size()), [=](int t) {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    values[t] = usage.ru_minflt;
  });
  return faults;
}

TEST(FirstTouch, IsByEachThread) {
  if constexpr (!device::kernels_on_host) GTEST_SKIP() << "a device has no pages";
  auto before = page_faults_of_threads();
  const auto values = zeroed<double>("test/values", std::size_t{8} << 20);
  auto after = page_faults_of_threads();
  for (std::size_t t = 0; t < after.size(); ++t) EXPECT_GT(after[t], before[t]) << "thread " << t;
  EXPECT_EQ(values(values.size() - 1), 0);
  const auto field = grid::make_field<double>("test/field", {.extents = {2048, 1024, 1}});
  before = page_faults_of_threads();
  for (std::size_t t = 0; t < after.size(); ++t) EXPECT_GT(before[t], after[t]) << "thread " << t;
}

TEST(Cores, OfAProcessAreThoseOfAllItsThreads) {
  const comm::Communicator self(MPI_COMM_SELF);
  const auto all = cores_of_task(0);
  std::atomic<bool> done{false};
  std::thread other([&] { // has the mask of before
    while (!done) std::this_thread::yield();
  });
  {
    const BoundToOneCore bound;
    EXPECT_EQ(placement_of(self)[0]["cores"], ranges(all));
    const OnAllCores wide;
    EXPECT_EQ(cores_of_task(0), all);
  }
  {
    const BoundToOneCore bound;
    { const OnAllCores wide; }
    EXPECT_EQ(cores_of_task(0).size(), 1U);
  }
  done = true;
  other.join();
}

TEST(Cores, OfEachThreadAreTold) {
  if constexpr (!device::kernels_on_host) GTEST_SKIP() << "a device has no cores";
  const auto threads = placement_of(comm::Communicator(MPI_COMM_SELF))[0]["threads"].get<std::string>();
  EXPECT_EQ(std::count(threads.begin(), threads.end(), ' ') + 1, Kokkos::DefaultExecutionSpace().concurrency());
  EXPECT_EQ(threads.substr(0, threads.find(' ')), ranges(cores_of_task(0)));
}

} // namespace

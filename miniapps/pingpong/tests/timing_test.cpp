// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/payload.hpp"
#include "timing/interleave.hpp"

#include <kontor/comm/collectives.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace kontor;
using namespace kontor::pingpong;
using namespace kontor::timing;

using HostRows = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;

template <class View>
Cells<View> cells_of(const View& view, int sender, int senders = 1, std::int64_t first = 0) {
  return {view, sender, senders, first};
}

struct Timing : testing::Test {
  comm::Communicator comm{MPI_COMM_WORLD};
  std::string log;
  int made = 0;    ///< the seed of the payload
  int arrived = 0; ///< and of what a way has moved

  Way way(const std::string& name, bool works = true) {
    return {name, [this, name, works](int) {
              log += name;
              if (works) arrived = made;
            }};
  }
  Payload payload{[this](int seed) { made = seed; }, [this](int seed) { return arrived == seed ? 0 : 1; }};
};

TEST_F(Timing, WaysTakeTurnsInGoingFirst) {
  const Way ways[] = {way("a"), way("b")};
  const auto samples = interleave(comm, ways, payload, {4, 1, 0}, nullptr, true);
  EXPECT_EQ(log, "ab"
                 "abbaabba");
  EXPECT_EQ(samples.executions, 1);
  ASSERT_EQ(samples.seconds.size(), 2U);
  EXPECT_EQ(samples.seconds[0].size(), 4U);
  EXPECT_EQ(samples.wrong, 0);
}

TEST_F(Timing, EveryRepetitionOfWhatMovesDataIsVerified) {
  Way ways[] = {way("a"), way("b", false)};
  EXPECT_EQ(interleave(comm, ways, payload, {4, 2, 0}, nullptr, true).wrong, 6) << "2 in the warm-up";
  ways[1].verified = false;
  EXPECT_EQ(interleave(comm, ways, payload, {4, 2, 0}, nullptr, true).wrong, 0);
}

TEST_F(Timing, ShortExecutionsAreTimedTogether) {
  int executions = 0;
  const Way ways[] = {{"a", [&](int n) {
                         executions += n;
                         std::this_thread::sleep_for(std::chrono::microseconds(100 * n));
                         arrived = made;
                       }}};
  const auto samples = interleave(comm, ways, payload, {3, 2, 0.01}, nullptr, true);
  EXPECT_GT(samples.executions, 1);
  EXPECT_LE(samples.executions, 100);
  EXPECT_EQ(executions, 2 + 3 * samples.executions);
  for (const double seconds : samples.seconds[0]) EXPECT_GE(seconds, 1e-4) << "of one execution";
}

TEST_F(Timing, TheSlowestClockedRankCounts) {
  const bool slow = comm.rank() == 0;
  const Way ways[] = {{"a", [&](int) {
                         arrived = made;
                         if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(2));
                       }}};
  const auto samples = interleave(comm, ways, payload, {3, 1, 0}, nullptr, true);
  for (const double seconds : samples.seconds[0]) EXPECT_GE(seconds, 2e-3);
  if (comm.size() == 1) return;
  EXPECT_GT(interleave(comm, ways, payload, {3, 1, 0}, nullptr, !slow).seconds[0][0], 0)
      << "ranks without a clock do not count";
}

TEST_F(Timing, PhasesAreOfOneExecution) {
  comm::PhaseTimes phases;
  const Way ways[] = {{"a",
                       [&](int n) {
                         arrived = made;
                         phases.pack += 2.0 * n * (comm.rank() + 1);
                         phases.wait += 3.0 * n * (comm.rank() + 1);
                       },
                       {&phases, [](bool) {}}}};
  const auto samples = interleave(comm, ways, payload, {3, 2, 1e-6}, nullptr, true);
  EXPECT_DOUBLE_EQ(samples.phases[0].pack, 2.0 * comm.size()) << "of the slowest rank";
  EXPECT_DOUBLE_EQ(samples.phases[0].wait, 3.0 * comm.size());
  EXPECT_EQ(samples.phases[0].post, 0);
}

TEST_F(Timing, EndsBetweenSamplesWhenOneRankIsTold) {
  miniapp::StopRequest end(comm);
  if (comm.rank() == comm.size() - 1)
    end.set_due_action([&] { return made >= 5 ? miniapp::DueAction::end : miniapp::DueAction::nothing; });
  const Way ways[] = {{"a", [&](int) {
                         arrived = made;
                         std::this_thread::sleep_for(std::chrono::milliseconds(60));
                       }}};
  EXPECT_THROW(interleave(comm, ways, payload, {1000, 2, 0}, &end, true), miniapp::EndedEarly);
  EXPECT_LT(made, 100) << "samples of 60 ms, and ranks ask each other twice a second";
}

TEST(PayloadValues, DifferBetweenSeedsAndSenders) {
  for (int seed = 1; seed < 100; ++seed) {
    for (std::int64_t i = 0; i < 10; ++i) {
      EXPECT_NE(payload_value<int>(i, seed), payload_value<int>(i, seed + 1));
      EXPECT_NE(payload_value<int>(i, seed), payload_value<int>(i + 1, seed)) << "a shift is seen";
      EXPECT_NE(payload_value<double>(i, seed, 0), payload_value<double>(i, seed, 1));
    }
  }
}

/// A face of rows that are longer.
TEST(PayloadValues, OfAllElementsAreCounted) {
  const HostRows rows("test/rows", 5, 7, 6);
  const auto face = Kokkos::subview(rows, Kokkos::ALL, 2, Kokkos::pair(1, 4));
  fill(cells_of(rows, 2), 8);
  fill(cells_of(face, 1), 3);
  EXPECT_EQ(count_wrong(cells_of(face, 1), 3), 0);
  EXPECT_EQ(count_wrong(cells_of(face, 1), 4), 15) << "of the next sample";
  EXPECT_EQ(count_wrong(cells_of(face, 0), 3), 15) << "of another sender";
  EXPECT_EQ(count_wrong(cells_of(face, 1, 1, 1), 3), 15) << "of other places";
  EXPECT_EQ(count_wrong(cells_of(rows, 2), 8), 15) << "the rest is as it was";
  rows(4, 2, 3) = -1;
  EXPECT_EQ(count_wrong(cells_of(face, 1), 3), 1);
  EXPECT_EQ(face(3, 1), payload_value<double>(3 * 42 + 1, 3, 1));
}

TEST(PayloadValues, OfSeveralSendersAreSums) {
  const HostRows rows("test/rows", 1, 2, 3);
  const auto cells = cells_of(rows, 4, 3);
  fill(cells, 5);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(rows.data()[i],
              payload_value<double>(i, 5, 4) + payload_value<double>(i, 5, 5) + payload_value<double>(i, 5, 6));
  rows(0, 1, 1) += 1;
  EXPECT_EQ(count_wrong(cells, 5), 1);
}

TEST(PayloadValues, AreJudgedWhereTheyArrive) {
  const HostRows out("test/out", 1, 1, 9), in("test/in", 1, 1, 9);
  const auto payload = payload_of(std::vector{cells_of(out, 1)}, [&] { return std::vector{cells_of(in, 1)}; });
  payload.fill(2);
  EXPECT_GE(payload.wrong(2), 8);
  Kokkos::deep_copy(in, out);
  EXPECT_EQ(payload.wrong(2), 0);
}

} // namespace

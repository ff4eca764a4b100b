// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/steps.hpp"
#include "run/record/sampled_exchange.hpp"
#include "run/record/trace.hpp"
#include "run/tests/refusal.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kontor;
using namespace kontor::miniapp;

/// An exchange that takes the seconds it is told.
struct FakeExchange {
  comm::PhaseTimes sum;
  const comm::PhaseTimes& times() const { return sum; }
  std::vector<int> messages{1};
  const std::vector<int>& slots() const { return messages; }
  void start() { sum.post += 1; }
  void finish() { sum.wait += 2; }
  bool stream_ordered() const { return false; }
};

/// Six steps of two regions and an exchange.
struct SixSteps : Steps {
  explicit SixSteps(Timers& timers) : to(timers), compute(timers["compute"]), own(timers) {}
  StepPlan begin() override { return {.limit = 6}; }
  std::int64_t advance(std::int64_t, std::int64_t) override {
    SampledExchange sampled(exchange, to);
    sampled.start();
    { const ScopedTimer timed(compute); }
    sampled.finish();
    const ScopedTimer lately(own["own"]); // a region that is declared while it is traced
    return 1;
  }
  void drain() override {}
  FakeExchange exchange;
  ExchangeSamples to;
  Timer& compute;
  Timers& own;
};

void make_steps(Timers& timers) {
  StepClock clock(timers);
  SixSteps steps(timers);
  run_steps(steps, {.clock = &clock});
}

TEST(Trace, HasTheRegionsOfTheFirstStepsOfAllRanks) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  Timers timers;
  timers.communication("a"); // no rank is in it
  Trace trace(4);
  trace.begin();
  timers.trace(&trace);
  make_steps(timers);
  EXPECT_EQ(timers.trace(), nullptr) << "its steps are made";
  const auto table = trace.gather(comm, timers);
  EXPECT_EQ(table.rows.empty(), comm.rank() != 0);
  if (comm.rank() != 0) return;
  std::map<std::pair<int, std::string>, int> times;
  double last = 0;
  int rank = 0;
  for (const auto& row : table.rows) {
    ++times[{row.rank, table.regions.at(static_cast<std::size_t>(row.region))}];
    EXPECT_LE(0, row.begin);
    EXPECT_LE(row.begin, row.end);
    if (row.rank != rank) last = 0;
    EXPECT_LE(last, row.end) << "in the order of their ends";
    rank = row.rank;
    last = row.end;
  }
  EXPECT_EQ(times.size(), 4u * static_cast<unsigned>(comm.size()));
  for (const auto& [where, count] : times) EXPECT_EQ(count, 4) << where.first << " " << where.second;
}

TEST(Trace, DropsWhatItHasNoRoomFor) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  Timers timers;
  Trace trace(1);
  timers.trace(&trace);
  for (int i = 0; i < 100; ++i) const ScopedTimer timed(timers["many"]);
  timers.trace(nullptr);
  { const ScopedTimer timed(timers["many"]); }
  const auto rows = trace.gather(comm, timers).rows.size();
  EXPECT_EQ(rows, comm.rank() == 0 ? 64u * static_cast<unsigned>(comm.size()) : 0);
}

TEST(Trace, IsRefusedWhereRank0HasNoRoom) {
  const auto deck = config::Deck::parse("app: test\nmeasure: {trace: 5000}\n", "deck.yaml");
  EXPECT_EQ(test::error_of([&] { require_trace_fits(deck, 5000, 8); }), "");
  test::expect_facts(test::error_of([&] { require_trace_fits(deck, 5000, 16); }),
                     {"deck.yaml:2", "measure.trace", "5000", "16 ranks", "67108864", "2730 steps"});
}

TEST(Durations, AreOfSingleStepsAndExchanges) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  Timers timers;
  make_steps(timers);
  timers.reset(); // after a warm-up
  make_steps(timers);
  make_steps(timers);
  const auto exchanges = timers.durations("exchange").over_ranks(comm);
  const auto steps = timers.durations("step").over_ranks(comm);
  timers.reset();
  SixSteps alone(timers);
  alone.exchange.messages.clear();
  run_steps(alone, {});
  EXPECT_EQ(timers.durations("exchange").over_ranks(comm).count, 0) << "there were no messages";
  if (comm.rank() != 0) return;
  EXPECT_EQ(exchanges.count, 12 * comm.size());
  EXPECT_EQ(exchanges.max, 3) << "start() and finish(), without what is between them";
  EXPECT_NEAR(exchanges.p50, 3, 0.013);
  EXPECT_EQ(steps.count, 12 * comm.size());
  EXPECT_GT(steps.p50, 0);
}

} // namespace

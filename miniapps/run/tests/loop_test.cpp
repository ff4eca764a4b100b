// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/progress.hpp"
#include "run/loop/run_steps.hpp"
#include "run/loop/stop_request.hpp"
#include "run/options.hpp"
#include "run/record/sampled_exchange.hpp"
#include "run/start/guard.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/refusal.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/reductions.hpp>

#include <mpi.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <tuple>
#include <unistd.h>

namespace {

using namespace kontor::miniapp;
using namespace kontor;
using test::world;

TEST(StopRequest, WhatIsDueOnOneRankAllDo) {
  StopRequest end(world());
  auto due_action = DueAction::nothing;
  end.set_due_action([&] { return due_action; });
  EXPECT_FALSE(end.ask());
  EXPECT_FALSE(end.wants_checkpoint());
  if (world().rank() == world().size() - 1) due_action = DueAction::checkpoint;
  EXPECT_FALSE(end.ask());
  EXPECT_TRUE(end.wants_checkpoint());
  end.forget_checkpoint();
  EXPECT_FALSE(end.wants_checkpoint());
  if (world().rank() == world().size() - 1) due_action = DueAction::end;
  EXPECT_TRUE(end.ask());
  EXPECT_EQ(end.signal(), "walltime");
}

TEST(StopRequest, WhatOneRankIsToldAllAgreeOnAtTheSameCall) {
  catch_end_signals();
  StopRequest end(world());
  EXPECT_FALSE(end.ask());
  for (int call = 0; call < 20; ++call) EXPECT_FALSE(end.agreed());
  EXPECT_EQ(end.signal(), "");

  if (world().rank() == world().size() - 1) std::raise(SIGUSR1);
  int calls = 0;
  while (!end.agreed()) ++calls;
  EXPECT_EQ(comm::allreduce(world(), calls, comm::ReduceOp::max), calls);
  EXPECT_EQ(comm::allreduce(world(), calls, comm::ReduceOp::min), calls);
  EXPECT_EQ(end.signal(), "USR1");
  EXPECT_TRUE(end.granted());
  EXPECT_TRUE(end.ask());
}

double walltime(const std::string& text) {
  CheckpointOptions options;
  const auto deck = config::Deck::parse("app: heat\ncheckpoint: {walltime: \"" + text + "\"}\n", "t.yaml");
  deck.read([&](config::Visitor& v) { options.describe(v); });
  EXPECT_TRUE(options.wanted());
  options.resolve(deck);
  return options.walltime_seconds;
}

TEST(Checkpoint, Walltime) {
  EXPECT_FALSE(CheckpointOptions{}.wanted());
  EXPECT_EQ(walltime("90"), 90);
  EXPECT_EQ(walltime("1:30"), 90);
  EXPECT_EQ(walltime("100:00"), 6000);
  EXPECT_EQ(walltime("24:00:01"), 86401);
  for (const char* wrong : {"0", "-5", "1:3", "1:60", "1:00:60", "1:00:00:00", "5m", ":30", "1:", "1e3", " 5"})
    EXPECT_THROW(walltime(wrong), config::Error) << wrong;
}

/// Steps of two fields, some of which have a value that is known a step late or after drain(). They count
/// what is made of them, on a host as on a device.
struct LateSteps : Steps {
  StepPlan plan() const override {
    return {.limit = limit,
            .value_every = value_every,
            .stops = ends_at > 0,
            .together = together,
            .break_every = break_every};
  }
  LaunchTerms launch_terms() override {
    return {.wanted = wanted,
            .comm = &world(),
            .streams = &streams,
            .queued = true,
            .states = 2,
            .kernel_refusal = kernel_steps > 0 ? std::nullopt : std::optional<std::string>("it has none"),
            .kernel_steps = kernel_steps};
  }
  void begin(Launch) override {
    log.clear();
    made = last = read = 0;
  }
  int queue(int state, const Pass& pass) override {
    EXPECT_TRUE(!pass.value || pass.steps == 1);
    return (state + pass.steps) % 2;
  }
  int current_state() const override { return state; }
  void moved(const Pass& pass) override { state = (state + pass.steps) % 2; }
  void account(const Pass& pass) override {
    EXPECT_EQ(pass.after, made);
    made += pass.steps;
    log.push_back(pass.steps);
    if (pass.value) last = made;
  }
  int kernel_length(std::int64_t after, std::int64_t until) const override {
    return static_cast<int>(std::min<std::int64_t>(until - after, kernel_steps));
  }
  std::optional<std::int64_t> ended(std::int64_t now, bool wait) override {
    if (wait || now > last) read = last;
    return ends_at > 0 && read >= ends_at ? std::optional(ends_at) : std::nullopt;
  }
  bool value_open() const override { return !careless && ends_at > 0 && read < last; }
  void step_back() override {
    ++undone;
    --made;
    state = 1 - state;
  }
  void drain() override { read = last; }

  config::Chosen<Launch> wanted{Launch::per_kernel};
  std::int64_t limit = 12, ends_at = 6, break_every = 0, value_every = 3;
  int together = 2, kernel_steps = 0;
  bool careless = false; ///< launches two steps with a value open
  stepping::Streams<LaunchSpace> streams{false};
  Timers timers{"test"};
  int state = 0;
  std::int64_t made = 0, last = 0, read = 0; ///< steps; that of the last value, and of the last one that is known
  std::vector<int> log;                      ///< steps of the passes
  int undone = 0;
};

std::int64_t run(LateSteps& steps, const BetweenSteps& between = {}) {
  Launches launches(steps, steps.timers);
  launches.choose(between.snapshot_every);
  const auto made = run_steps(launches, between);
  EXPECT_EQ(made, steps.made);
  return made;
}

TEST(Loop, EndsByLateValues) {
  LateSteps late;
  EXPECT_EQ(run(late), 6);
  EXPECT_EQ(late.log, (std::vector<int>{2, 1, 1, 1, 1, 1}));
  EXPECT_EQ(late.undone, 1);
  LateSteps drained;
  const auto drain = [](std::int64_t, const auto& drain) {
    drain();
    return false;
  };
  EXPECT_EQ(run(drained, {.ends = drain}), 6);
  EXPECT_EQ(drained.log, (std::vector<int>{2, 1, 2, 1}));
  EXPECT_EQ(drained.undone, 0);
  LateSteps careless;
  careless.careless = true;
  EXPECT_THROW(run(careless), std::logic_error);
}

/// 18 steps with six values, from either field; what is left, and what a break cuts off, step by step.
TEST(Loop, MakesManyStepsByAGraph) {
  LateSteps steps;
  steps.ends_at = 0;
  steps.wanted = Launch::graph;
  for (const auto& [limit, break_every, state] : {std::tuple(41, 0, 0), {41, 0, 1}, {61, 20, 0}}) {
    steps.limit = limit;
    steps.break_every = break_every;
    steps.state = state;
    EXPECT_EQ(run(steps), limit);
    EXPECT_EQ(steps.state, (state + limit) % 2);
  }
  steps.limit = 17;
  test::expect_facts(test::error_of([&] { run(steps); }), {"graph", "18 steps", "per_kernel"});
}

/// To a value that ends the repeat, at most one step is undone, and no launch of several steps comes after an open one.
TEST(Loop, EndsWhereSingleStepsEnd) {
  for (const auto wanted : {Launch::per_kernel, Launch::graph, Launch::persistent})
    for (const std::int64_t every : {0, 3, 5}) {
      LateSteps steps;
      steps.limit = 100;
      steps.ends_at = steps.value_every = 40;
      steps.wanted = wanted;
      steps.kernel_steps = 3;
      const auto drain = [&](std::int64_t made, const auto& drain) {
        if (every > 0 && made % every == 0) drain();
        return false;
      };
      EXPECT_EQ(run(steps, {.ends = drain}), 40) << stepping::name_of(wanted) << ", drained each " << every;
      EXPECT_LE(steps.undone, 1);
    }
}

TEST(Plan, HasThePatternOfItsSteps) {
  const auto pattern = [](std::int64_t value_every, bool stops) {
    const auto found = StepPlan{.limit = 1000, .value_every = value_every, .stops = stops}.pattern(16, 2);
    return std::pair(found.steps, found.value_every);
  };
  EXPECT_EQ(pattern(0, false), std::pair(16, 0));
  EXPECT_EQ(pattern(1, false), std::pair(16, 1));
  EXPECT_EQ(pattern(3, false), std::pair(18, 3));
  EXPECT_EQ(pattern(15, false), std::pair(30, 15));
  EXPECT_EQ(pattern(16, false), std::pair(16, 16));
  EXPECT_EQ(pattern(17, false), std::pair(16, 0));
  EXPECT_EQ(pattern(1, true), std::pair(16, 0)); // each value is waited for
  EXPECT_EQ(StepPlan{}.pattern(16, 6).steps, 18);
}

TEST(Plan, KnowsHowManyStepsAreAsInThePattern) {
  const LaunchPattern plain{16, 0}, with_values{18, 3};
  const auto plan = [](std::int64_t limit, std::int64_t every, bool stops = false) {
    return StepPlan{.limit = limit, .value_every = every, .stops = stops};
  };
  EXPECT_EQ(plan(1000, 0).alike_after(0, plain), 16);
  EXPECT_EQ(plan(1000, 17, true).alike_after(0, plain), 16);
  EXPECT_EQ(plan(1000, 17, true).alike_after(1, plain), 15);
  EXPECT_EQ(plan(16, 0).alike_after(0, plain), 16);
  EXPECT_EQ(plan(16, 0, true).alike_after(0, plain), 15); // the last one has a value
  EXPECT_EQ(plan(1000, 3).alike_after(6, with_values), 18);
  EXPECT_EQ(plan(1000, 3).alike_after(7, with_values), 1);
  EXPECT_EQ(plan(36, 3).alike_after(18, with_values), 18);
  EXPECT_EQ(plan(35, 3).alike_after(18, with_values), 16);
}

const ProgressWords sweeps{"sweep", "norm"};

TEST(Progress, SpeaksInTheAppsWords) {
  const ProgressState before{.step = 20, .limit = 1000}, now{.step = 120, .limit = 1000};
  EXPECT_EQ(progress_line("heat", sweeps, before, now, 5), "heat: sweep 120 of 1000, 20 sweeps/s, 44 s left");
  EXPECT_EQ(progress_line("heat", sweeps, now, now, 5), "heat: sweep 120 of 1000"); // nothing done has no rate
  const ProgressState first{.step = 100, .limit = 1000, .norm = 1e-2, .target = 1e-6};
  const ProgressState second{.step = 200, .limit = 1000, .norm = 1e-4, .target = 1e-6};
  EXPECT_EQ(progress_line("cg", {.norm = "residual"}, first, second, 10),
            "cg: iteration 200 of at most 1000, residual 1.00e-04 (to 1e-06), 10 iterations/s, at most 80 s left");
}

TEST(Progress, ComesAtTwiceTheTimeOfTheLineBefore) {
  const auto shown = [](bool shows) {
    testing::internal::CaptureStderr();
    Progress progress(shows, "heat");
    for (int time = 0; time <= 200; ++time) progress.update({.step = time, .limit = 1000}, time);
    const auto text = testing::internal::GetCapturedStderr();
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(shown(false), 0);
  EXPECT_EQ(shown(true), 8) << "at 1, 3, 7, 15, 31, 63, 123, 183";
}

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
  StepPlan plan() const override { return {.limit = 6}; }
  LaunchTerms launch_terms() override { return {}; }
  int queue(int, const Pass&) override {
    SampledExchange sampled(exchange, to);
    sampled.start();
    { const ScopedTimer timed(compute); }
    sampled.finish();
    const ScopedTimer lately(own["own"]); // a region that is declared while it is traced
    return 0;
  }
  void drain() override {}
  FakeExchange exchange;
  ExchangeSamples to;
  Timer& compute;
  Timers& own;
};

void make_steps(Timers& timers) {
  SixSteps steps(timers);
  Launches launches(steps, timers);
  run_steps(launches, {.timers = &timers});
}

TEST(Trace, HasTheRegionsOfTheFirstStepsOfAllRanks) {
  Timers timers;
  timers.communication("a"); // no rank is in it
  timers.begin_trace(4, world().size());
  make_steps(timers);
  const auto table = timers.trace(world());
  EXPECT_EQ(table.empty(), world().rank() != 0);
  if (world().rank() != 0) return;
  std::map<std::pair<int, std::string>, int> times;
  double last = 0;
  int rank = 0;
  for (const auto& row : table) {
    ++times[{row["rank"], row["region"]}];
    EXPECT_LE(0, row["begin"]);
    EXPECT_LE(row["begin"], row["end"]);
    if (row["rank"] != rank) last = 0;
    EXPECT_LE(last, row["end"]) << "in the order of their ends";
    rank = row["rank"];
    last = row["end"];
  }
  EXPECT_EQ(times.size(), 4u * static_cast<unsigned>(world().size()));
  for (const auto& [where, count] : times) EXPECT_EQ(count, 4) << where.first << " " << where.second;
}

TEST(Trace, DropsWhatItHasNoRoomFor) {
  Timers timers;
  timers.begin_trace(1, world().size());
  for (int i = 0; i < 100; ++i) const ScopedTimer timed(timers["many"]);
  timers.end_trace();
  { const ScopedTimer timed(timers["many"]); }
  const auto rows = timers.trace(world()).size();
  EXPECT_EQ(rows, world().rank() == 0 ? 64u * static_cast<unsigned>(world().size()) : 0);
}

TEST(Durations, AreOfSingleStepsAndExchanges) {
  Timers timers;
  make_steps(timers);
  timers.reset(); // after a warm-up
  make_steps(timers);
  make_steps(timers);
  const auto found = distributions(world(), timers);
  timers.reset();
  SixSteps alone(timers);
  alone.exchange.messages.clear();
  Launches launches(alone, timers);
  run_steps(launches, {});
  EXPECT_TRUE(distributions(world(), timers).empty()) << "there were no messages";
  if (world().rank() != 0 || !device::kernels_on_host) return;
  ASSERT_EQ(found.size(), 2u);
  const auto &exchanges = found[0], &steps = found[1];
  EXPECT_EQ(exchanges["name"], "exchange");
  EXPECT_EQ(exchanges["count"], 12 * world().size());
  EXPECT_EQ(exchanges["max"], 3) << "start() and finish(), without what is between them";
  EXPECT_NEAR(exchanges["p50"].get<double>(), 3, 0.013);
  EXPECT_EQ(steps["count"], 12 * world().size());
  EXPECT_GT(steps["p50"], 0);
}

/// As one that waits for a kernel, which waits for another rank.
struct NeverDestroyed {
  ~NeverDestroyed() {
    for (;;) ::pause();
  }
};

/// Ends the program, so CTest runs it by itself, as the next one: miniapp_run/part_fails.
TEST(Guard, DISABLED_PartOfTheRanksAgrees) {
  const auto part_agrees = [] {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) throw comm::AgreedError("two of three agree");
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  };
  std::exit(guarded(part_agrees, 0.5));
}

/// miniapp_run/one_rank_fails.
TEST(Guard, DISABLED_OneRankFails) {
  std::exit(guarded([] {
    const NeverDestroyed kernel;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) throw std::runtime_error("it fails alone");
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  }));
}

} // namespace

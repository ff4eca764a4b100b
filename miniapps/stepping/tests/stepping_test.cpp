// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms that are read late, the schedule of steps, and graphs of them. Compiled as if kernels ran on a device: on a CPU
// a graph is a list of calls.
#include "run/tests/first_ranks.hpp"
#include "run/tests/refusal.hpp"
#include "stepping/deferred_norms.hpp"
#include "stepping/launch.hpp"
#include "stepping/schedule.hpp"
#include "stepping/step_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace kontor::stepping::test {
namespace {

using namespace miniapp::test;
using Space = Kokkos::DefaultExecutionSpace;

/// Norms that are asked for before their batch is full, as before a snapshot, and batches that no graph fills.
TEST(Norms, AreReadWhenTheyAreAskedFor) {
  Streams<Space> streams(true);
  DeferredNorms<Space> norms(world(), Norm::max);
  const Kokkos::View<double*, Space::memory_space> part("test/part", 1);
  for (const int batch : {1, 6}) {
    norms.begin(batch, streams);
    for (int n = 1; n <= 40; ++n) {
      if (n % 5 == 1) norms.make_room(std::min(batch, 4), streams);
      Kokkos::deep_copy(part, n);
      combine(streams.compute(), part.data(), 1, Norm::max, norms.slots());
      norms.add(n, streams);
      if (n == 3 || n == 22) {
        norms.read(n, streams);
        EXPECT_EQ(norms.latest(), n);
      }
    }
    norms.read(40, streams);
    ASSERT_EQ(norms.values().size(), 40u);
    for (int n = 1; n <= 40; ++n) EXPECT_EQ(norms.values()[n - 1], n) << "batch " << batch;
  }
}

/// Norms of steps that are undone, some of them under way, and then a new beginning.
TEST(Norms, OfUndoneStepsAreForgotten) {
  Streams<Space> streams(false);
  DeferredNorms<Space> norms(world(), Norm::l2);
  const Kokkos::View<double*, Space::memory_space> part("test/part", 1);
  for (int repeat = 0; repeat < 2; ++repeat) {
    norms.begin(1, streams);
    for (int n = 1; n <= 5; ++n) {
      Kokkos::deep_copy(part, n);
      combine(streams.compute(), part.data(), 1, Norm::l2, norms.slots());
      norms.add(n, streams);
    }
    norms.read(4, streams);
    ASSERT_EQ(norms.latest_step(), 4);
    norms.forget_after(3);
    EXPECT_EQ(norms.steps(), (std::vector<std::int64_t>{1, 2, 3}));
    EXPECT_EQ(norms.latest_step(), 3);
    EXPECT_EQ(norms.latest(), std::sqrt(3.0 * world().size()));
  }
}

/// Accumulators travel as they are: of 2^60 + 1 - 2^60 on each rank the 1 is not lost.
TEST(Norms, OfExactSums) {
  Streams<Space> streams(false);
  DeferredNorms<Space> norms(world(), Norm::l2, SumKind::reproducible);
  const Kokkos::View<std::int64_t*, Space::memory_space> part("test/part", sums::length);
  const auto on_host = Kokkos::create_mirror_view(part);
  for (const int batch : {1, 6}) {
    norms.begin(batch, streams);
    for (int n = 1; n <= 15; ++n) {
      if (n % 5 == 1) norms.make_room(std::min(batch, 4), streams);
      Kokkos::deep_copy(on_host, 0);
      for (const double value : {0x1p60, double(n), -0x1p60}) sums::add_value(on_host.data(), value);
      Kokkos::deep_copy(part, on_host);
      leave(streams.compute(), part.data(), norms.slots());
      norms.add(n, streams);
    }
    norms.read(15, streams);
    ASSERT_EQ(norms.values().size(), 15u);
    for (int n = 1; n <= 15; ++n)
      EXPECT_EQ(norms.values()[n - 1], std::sqrt(double(n) * world().size())) << "batch " << batch;
  }
}

/// As many parts as large blocks leave, which several teams put together.
TEST(Norms, OfManyParts) {
  const Kokkos::View<double*, Space::memory_space> slot("test/slot", 1);
  const Kokkos::View<int*, Space::memory_space> next("test/next", 1);
  for (const int count : {1, 7, 10000, 16384, 16385, 50000}) {
    const Kokkos::View<double*, Kokkos::HostSpace> parts("test/parts", count);
    for (int p = 0; p < count; ++p) parts(p) = 1 + p * 7919 % count; // 1 to count, once each
    for (const auto norm : {Norm::max, Norm::l2}) {
      const Kokkos::View<double*, Space::memory_space> there("test/parts", count);
      Kokkos::deep_copy(there, parts);
      combine(Space(), there.data(), count, norm, {slot.data(), next.data(), 1});
      const double result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), slot)(0);
      EXPECT_EQ(result, norm == Norm::max ? count : count * (count + 1.0) / 2) << count << " parts";
    }
  }
}

/// steps(start) += start + 1, queued.
void add(const Space& instance, const Kokkos::View<int*, Space::memory_space>& steps, int start) {
  Kokkos::parallel_for(
      "test/step", Kokkos::RangePolicy<Space>(instance, 0, 1), KOKKOS_LAMBDA(int) { steps(start) += start + 1; });
}

TEST(Graph, MakesTheStepsFromWhereItStarts) {
  Streams<Space> streams(true);
  StepGraph<Space> graph;
  EXPECT_FALSE(graph);
  const Kokkos::View<int*, Space::memory_space> steps("test/steps", 2);
  graph.capture(streams, 2, [&streams, steps](int start) {
    for (int n = 0; n < 4; ++n) add(streams.exchange(), steps, start);
    streams.compute_waits();
  });
  Kokkos::deep_copy(steps, 0);
  for (const int start : {0, 1, 1}) graph.replay(streams, start);
  streams.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), steps);
  EXPECT_EQ(host(0), 4);
  EXPECT_EQ(host(1), 16);
  graph.forget();
  EXPECT_FALSE(graph);
}

/// A device makes ready what it launches for the first time.
TEST(Graph, IsReplayedFromEachStateWhenItIsChosen) {
  Streams<Space> streams(true);
  StepGraph<Space> graph;
  const Kokkos::View<int*, Space::memory_space> steps("test/steps", 2);
  int made = 0;
  graph.choose(
      world(), streams, config::Chosen<Launch>(Launch::graph), std::nullopt, 2,
      [&streams, steps](int start) { add(streams.compute(), steps, start); }, [] { return 0; }, [&] { ++made; });
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), steps);
  EXPECT_EQ(host(0), 1);
  EXPECT_EQ(host(1), 2);
  EXPECT_EQ(made, 2);
}

TEST(Graph, IsRefusedWhereItCannotBe) {
  const auto as = [](Launch graphs) {
    config::Chosen<Launch> chosen(graphs);
    chosen.location = {"d.yaml:3:4", "solver.launch"};
    return chosen;
  };
  EXPECT_TRUE(wants_graph(world(), as(Launch::graph), std::nullopt));
  EXPECT_FALSE(wants_graph(world(), as(Launch::per_kernel), std::nullopt));
  EXPECT_FALSE(wants_graph(world(), as(Launch::automatic), "it rains"));
  expect_facts(error_of([&] { wants_graph(world(), as(Launch::graph), "it rains"); }),
               {"d.yaml:3:4: solver.launch", "graph", "it rains", "auto or each"});
}

/// One rank cannot; all say so.
TEST(Graph, ThatCannotBeCapturedIsAnErrorOfAll) {
  const auto capture = [&] {
    if (world().rank() == world().size() - 1) throw std::runtime_error("out of nodes");
  };
  expect_facts(error_of<comm::AgreedError>([&] {
                 capture_on_all(world(), {"d.yaml:3:4", "solver.launch"}, capture);
               }),
               {"out of nodes", "solver.launch: each", "E-GPU-CALL"});
}

TEST(StepSchedule, FindsTheGraphForItsSteps) {
  const auto graph = [](std::int64_t check_every, bool stops) {
    const auto shape = StepSchedule{1000, check_every, 0, stops}.graph();
    return std::pair(shape.steps, shape.norm_every);
  };
  EXPECT_EQ(graph(0, false), std::pair(16, 0));
  EXPECT_EQ(graph(1, false), std::pair(16, 1));
  EXPECT_EQ(graph(3, false), std::pair(18, 3));
  EXPECT_EQ(graph(15, false), std::pair(30, 15));
  EXPECT_EQ(graph(16, false), std::pair(16, 16));
  EXPECT_EQ(graph(17, false), std::pair(16, 0));
  EXPECT_EQ(graph(1, true), std::pair(16, 0)); // each norm is waited for
}

TEST(StepSchedule, KnowsHowManyStepsAreAsInTheGraph) {
  const GraphShape plain{16, 0}, with_norms{18, 3};
  EXPECT_EQ((StepSchedule{1000, 0, 0, false}.alike_after(0, plain)), 16);
  EXPECT_EQ((StepSchedule{1000, 17, 0, true}.alike_after(0, plain)), 16);
  EXPECT_EQ((StepSchedule{1000, 17, 0, true}.alike_after(1, plain)), 15);
  EXPECT_EQ((StepSchedule{16, 0, 0, false}.alike_after(0, plain)), 16);
  EXPECT_EQ((StepSchedule{16, 0, 0, true}.alike_after(0, plain)), 15); // the last one has a norm
  EXPECT_EQ((StepSchedule{1000, 0, 10, false}.alike_after(0, plain)), 9);
  EXPECT_EQ((StepSchedule{1000, 3, 0, false}.alike_after(6, with_norms)), 18);
  EXPECT_EQ((StepSchedule{1000, 3, 0, false}.alike_after(7, with_norms)), 1);
  EXPECT_EQ((StepSchedule{36, 3, 0, false}.alike_after(18, with_norms)), 18);
  EXPECT_EQ((StepSchedule{35, 3, 0, false}.alike_after(18, with_norms)), 16);
}

} // namespace
} // namespace kontor::stepping::test

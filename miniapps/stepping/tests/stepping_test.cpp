// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms that are read late, and choices among launches. Compiled as if kernels ran on a device: on a CPU a graph is a
// list of calls.
#include "run/tests/first_ranks.hpp"
#include "run/tests/refusal.hpp"
#include "stepping/deferred_norms.hpp"
#include "stepping/launch_refusal.hpp"
#include "stepping/trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
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

/// One rank cannot; all say so.
TEST(Graph, ThatCannotBeCapturedIsAnErrorOfAll) {
  const auto capture = [&] {
    if (world().rank() == world().size() - 1) throw std::runtime_error("out of nodes");
  };
  expect_facts(error_of<comm::AgreedError>([&] {
                 capture_on_all(world(), {"d.yaml:3:4", "solver.launch"}, capture);
               }),
               {"out of nodes", "solver.launch: per_kernel", "E-GPU-CALL"});
}

/// A turn takes the seconds it is told.
struct FakeTurns {
  std::vector<double> seconds;
  std::vector<int> calls = std::vector<int>(seconds.size());
  double operator()(std::size_t c, int count) {
    calls[c] += count;
    return seconds[c];
  }
};

TEST(Trial, KeepsTheUsualOneUnlessAnotherIsFaster) {
  for (const auto& [other, chosen] : {std::pair(0.98, 0u), {0.96, 1u}}) {
    Trial trial{{{"usual"}, {"other"}}};
    FakeTurns turns{{1e-4, other * 1e-4}};
    trial.choose(world(), 1, std::ref(turns));
    EXPECT_EQ(trial.chosen, chosen);
    EXPECT_TRUE(trial.tried());
  }
}

TEST(Trial, TriesWhatIsPossible) {
  Trial trial{{{"usual"}, {"impossible", "it rains"}, {"fast"}}};
  FakeTurns turns{{1e-4, 1e-9, 1e-5}};
  trial.choose(world(), 1, std::ref(turns));
  EXPECT_EQ(trial.chosen, 2u);
  EXPECT_EQ(turns.calls[1], 0);
  const auto record = trial.record();
  EXPECT_EQ(record[1]["refusal"], "it rains");
  EXPECT_TRUE(std::isnan(record[1]["seconds"].get<double>()));
  EXPECT_EQ(record[2]["seconds"], 1e-5);
  Trial alone{{{"usual", "it rains"}, {"other"}}};
  alone.choose(world(), 1, std::ref(turns));
  EXPECT_EQ(alone.chosen, 1u);
  EXPECT_FALSE(alone.tried());
}

/// Turns of 10 s, of which a repeat of 20 s allows those of the first candidate only.
TEST(Trial, TakesNoMoreThanItsShareOfARepeat) {
  FakeTurns turns{{10, 5, 1}};
  Trial trial{{{"usual"}, {"second"}, {"third"}}};
  trial.choose(world(), 2, std::ref(turns));
  EXPECT_EQ(turns.calls, (std::vector<int>{2, 0, 0}));
  EXPECT_EQ(trial.chosen, 0u);
  trial.choose(world(), 1000, std::ref(turns)); // 2000 s: all, but in no more turns than these
  EXPECT_EQ(turns.calls, (std::vector<int>{4, 2, 2}));
  EXPECT_EQ(trial.chosen, 2u);
}

} // namespace
} // namespace kontor::stepping::test

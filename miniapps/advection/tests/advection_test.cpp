// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact solution of the scheme is what a plain loop computes, and the verification finds a field that was
// not advanced and probes that were not gathered.
#include "advection/advection.hpp"
#include "advection/check/exact.hpp"
#include "advection/check/sample.hpp"
#include "run/tests/refusal.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace kontor::advection {
namespace {

Options options_of(double courant, double speed) {
  Options options;
  options.cells = 37;
  options.speed = speed;
  options.courant = courant;
  options.initial = "x < 0.3 ? 1 : x*x";
  options.steps = 90;
  options.probes = 5;
  options.probe_every = 30;
  return options;
}

TEST(Shifts, HaveTheWeightsOfABinomialDistribution) {
  const auto shifts = shifts_after(3, 0.25);
  EXPECT_EQ(shifts.first, 0);
  ASSERT_EQ(shifts.weights.size(), 4u);
  const double expected[] = {27. / 64, 27. / 64, 9. / 64, 1. / 64};
  for (int k = 0; k < 4; ++k) EXPECT_DOUBLE_EQ(shifts.weights[k], expected[k]);
  const auto many = shifts_after(1000000, 0.3);
  EXPECT_LT(many.weights.size(), 20000u);
  EXPECT_NEAR(std::accumulate(many.weights.begin(), many.weights.end(), 0.0), 1, 1e-13);
}

TEST(Exact, IsWhatALoopComputes) {
  for (const double speed : {1.0, -1.0}) {
    const auto options = options_of(0.7, speed);
    const config::Function initial(options.initial);
    auto u = exact(options, initial, shifts_after(0, 0.7), 0, 37);
    for (int n = 0; n < 90; ++n) {
      const auto before = u;
      for (int i = 0; i < 37; ++i) u[i] = 0.3 * before[i] + 0.7 * before[(i + (speed > 0 ? 36 : 1)) % 37];
    }
    const auto found = exact(options, initial, shifts_after(90, 0.7), 0, 37);
    for (int i = 0; i < 37; ++i) EXPECT_NEAR(found[i], u[i], 1e-14) << i;
  }
}

TEST(Sample, OfCellsIsBounded) {
  for (const std::int64_t cells : {1, 4096, 4097, 100000}) {
    EXPECT_EQ(sample_of_pieces(cells, 300).every, 1);
    EXPECT_EQ(sample_of_pieces(cells, 300).all, (cells + 4095) / 4096);
  }
  for (const std::int64_t weights : {1, 20000, 1 << 30}) {
    const auto pieces = sample_of_pieces(std::int64_t{1} << 40, weights);
    EXPECT_LE(pieces.count(), std::max<std::int64_t>(2, (1 << 18) / weights));
    EXPECT_LT(pieces.at(pieces.count() - 1), pieces.all);
  }
}

TEST(Sample, OfProbesIsBounded) {
  for (const std::int64_t all : {1, 7, 150, 12345, 1 << 30})
    for (const std::int64_t probes : {1, 5, 333, 1000000}) {
      const ProbeSample sample(all, probes);
      const auto values = sample.gatherings.count() * sample.probes.count();
      EXPECT_LE(values, ProbeSample::most);
      EXPECT_GE(values, std::min(all * probes, ProbeSample::most / 4));
    }
  EXPECT_EQ(ProbeSample(0, 0).gatherings.count(), 0);
}

TEST(Advection, VerifiesWhatItHasAdvancedAndNothingElse) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  for (const double courant : {1.0, 0.4})
    for (const double speed : {2.0, -1.0})
      for (const bool overlap : {true, false}) {
        miniapp::Timers timers("advection");
        miniapp::Progress progress(miniapp::Progress::Style::silent);
        Advection app(options_of(courant, speed), {comm, overlap, timers, progress});
        app.warm_up();
        app.reset();
        EXPECT_TRUE(app.verify().failed()); // neither field nor probes
        app.run();
        const auto right = app.verify();
        EXPECT_TRUE(right.passed()) << right.error << " above " << right.tolerance;
        app.reset();
        EXPECT_TRUE(app.verify().failed()); // the probes are right, the field is that of the beginning
      }
}

/// The verification knows the field and the samples of the steps before.
TEST(Advection, ResumesFromACheckpoint) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const char* const path = "advection-state.h5";
  miniapp::Timers timers("advection");
  miniapp::Progress progress(miniapp::Progress::Style::silent);
  auto options = options_of(0.4, -1);
  options.steps = 47; // in the other field than the first
  {
    Advection app(options, {comm, true, timers, progress});
    app.warm_up();
    app.reset();
    app.run();
    output::File file(comm.native(), path);
    app.write_state(file);
    file.commit();
  }
  const output::Reader reader(comm.native(), path);
  miniapp::test::expect_facts(miniapp::test::error_of([&] {
                                Advection(options, {comm, true, timers, progress}).read_state(reader);
                              }),
                              {"solver.steps is 47", path});
  options.steps = 90;
  Advection app(options, {comm, true, timers, progress});
  app.warm_up();
  app.reset();
  app.read_state(reader);
  app.run();
  const auto right = app.verify();
  EXPECT_TRUE(right.passed()) << right.error << " above " << right.tolerance;
  options.probes = 6;
  options.steps = 95;
  miniapp::test::expect_facts(miniapp::test::error_of([&] {
                                Advection(options, {comm, true, timers, progress}).read_state(reader);
                              }),
                              {"probes", path});
  if (comm.rank() == 0) std::filesystem::remove(path);
}

TEST(Advection, RecordsTheCellThatIsSentDownwind) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  miniapp::Timers timers("advection");
  miniapp::Progress progress(miniapp::Progress::Style::silent);
  const Advection app(options_of(1, 2), {comm, true, timers, progress});
  const auto traffic = app.record().traffic;
  ASSERT_EQ(traffic.size(), 1U);
  EXPECT_EQ(traffic[0].rank, comm.rank());
  EXPECT_EQ(traffic[0].neighbour, (comm.rank() + 1) % comm.size());
  EXPECT_EQ(traffic[0].messages, 1);
  EXPECT_EQ(traffic[0].bytes, 8);
}

TEST(Advection, SaysThatEqualValuesProveNothing) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  miniapp::Timers timers("advection");
  miniapp::Progress progress(miniapp::Progress::Style::silent);
  auto options = options_of(1, 1);
  options.initial = "2";
  Advection app(options, {comm, true, timers, progress});
  app.reset();
  app.run();
  EXPECT_FALSE(app.verify().conclusive);
}

/// Two fields; ghosts and padding are nothing beside so many cells.
TEST(Sizes, OfARankAndOfAShareOfMemory) {
  for (const int ranks : {1, 2, 3}) {
    const auto cells = [&](const char* problem) {
      Options options;
      const auto deck = config::Deck::parse(problem, "ring.yaml");
      deck.read([&](config::Visitor& v) { options.describe(v); });
      options.resolve_sizes(deck, ranks, [] { return 1e8; });
      options.resolve(deck, ranks);
      return options.cells;
    };
    EXPECT_EQ(cells("{app: advection, problem: {cells: 50, local: true}}"), 50 * ranks);
    for (const auto* share : {"{app: advection, problem: {memory_share: 0.5}}",
                              "{app: advection, problem: {memory_share: 0.5, local: true}}"})
      EXPECT_NEAR(static_cast<double>(cells(share)), 0.5 * 1e8 / 16 * ranks, 20. * ranks);
  }
}

} // namespace
} // namespace kontor::advection

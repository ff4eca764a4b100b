// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact solution of the scheme is what a plain loop computes, and the verification finds a field that was not
// advanced and probes that were not gathered.
#include "advection/advection.hpp"
#include "advection/check/exact.hpp"
#include "advection/check/sample.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"
#include "run/tests/sized.hpp"
#include "stepping/device.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

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

/// With all that a run lends it.
struct App : miniapp::test::Loan {
  std::unique_ptr<miniapp::MiniApp> app;

  explicit App(const Options& options, bool overlap = true)
      : Loan("advection"), app(make_advection(options, context(overlap))) {
    app->warm_up();
    app->reset();
  }
  miniapp::MiniApp* operator->() const { return app.get(); }
};

void expect_passed(const miniapp::Verification& result) {
  EXPECT_TRUE(result.passed()) << result.error << " above " << result.tolerance;
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

TEST(Sample, HasTheEnds) {
  std::mt19937_64 random;
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(sample_with_ends(0, 5, random), Numbers());
  EXPECT_EQ(sample_with_ends(1, 0, random), Numbers{0});
  EXPECT_EQ(sample_with_ends(3, 3, random), (Numbers{0, 1, 2}));
  const auto some = sample_with_ends(std::int64_t{1} << 40, 5, random);
  EXPECT_EQ(some.size(), 7U);
  EXPECT_EQ(some.back(), (std::int64_t{1} << 40) - 1);
}

TEST(Advection, VerifiesWhatItHasAdvancedAndNothingElse) {
  for (const double courant : {1.0, 0.4})
    for (const double speed : {2.0, -1.0})
      for (const int steps_per_pass : {0, 1, 4, 7}) { // 0: 1 without overlap
        auto options = options_of(courant, speed);
        options.steps_per_pass = std::max(1, steps_per_pass);
        const App app(options, steps_per_pass > 0);
        EXPECT_TRUE(app->verify().failed()); // neither field nor probes
        app->run();
        expect_passed(app->verify());
        app->reset();
        EXPECT_TRUE(app->verify().failed()); // the probes are right, the field is that of the beginning
      }
}

/// On a device the interior of so many cells takes longer than an exchange.
TEST(Advection, SendsWhatTheStepHasComputed) {
  auto options = options_of(1, 1);
  options.cells = stepping::on_device ? std::int64_t{1} << 24 : 1000;
  options.initial = "x*x";
  options.steps = 30;
  const App app(options);
  app->run();
  expect_passed(app->verify());
}

TEST(Advection, RoundsBelowTheSmallestNormalNumber) {
  auto options = options_of(0.5, 1);
  options.initial = "1e-310*x";
  App app(options);
  app->run();
  const auto result = app->verify();
  expect_passed(result);
  EXPECT_GT(result.error, 4 * std::numeric_limits<double>::epsilon() * static_cast<double>(options.steps));
}

/// The verification knows the field and the samples of the steps before.
TEST(Advection, ResumesFromACheckpoint) {
  const miniapp::test::Folder folder("advection");
  const auto path = folder / "state.h5";
  auto options = options_of(0.4, -1);
  options.steps = 47; // in the other field than the first
  {
    const App app(options);
    app->run();
    output::File file(MPI_COMM_WORLD, path);
    app->write_state(file);
    file.commit();
  }
  const output::Reader reader(MPI_COMM_WORLD, path);
  const auto expect_refused = [&](const char* fact) {
    const App app(options);
    miniapp::test::expect_facts(miniapp::test::error_of([&] { app->read_state(reader); }), {fact, path});
  };
  expect_refused("solver.steps is 47");
  options.steps = 90;
  const App app(options);
  app->read_state(reader);
  app->run();
  expect_passed(app->verify());
  options.probes = 6;
  expect_refused("probes");
}

TEST(Advection, RecordsTheCellThatIsSentDownwind) {
  const App app(options_of(1, 2));
  const auto traffic = app->record().traffic;
  ASSERT_EQ(traffic.size(), 1U);
  EXPECT_EQ(traffic[0].rank, app.comm.rank());
  EXPECT_EQ(traffic[0].neighbour, (app.comm.rank() + 1) % app.comm.size());
  EXPECT_EQ(traffic[0].messages, 1);
  EXPECT_EQ(traffic[0].bytes, 8);
}

TEST(Advection, SaysWhatProvesNothing) {
  for (const auto& [initial, steps] : {std::pair("2", 90), {"x", 74}, {"sin(2*pi*x)", 37 * 40}}) { // whole rounds
    auto options = options_of(steps == 90 ? 0.5 : 1, 1);
    options.initial = initial;
    options.steps = steps;
    const App app(options);
    app->run();
    EXPECT_FALSE(app->verify().conclusive) << initial;
  }
}

TEST(Advection, ComparesTheStartWithTheDeck) {
  const App app(options_of(1, 1));
  expect_passed(app->verify_start());
  app->run();
  EXPECT_TRUE(app->verify_start().failed());
  EXPECT_EQ(app->counts()->of_field, 90);
  EXPECT_GT(app->file_values().size(), 16U + 2 * 5);
}

/// Two fields; ghosts and padding are nothing beside so many cells.
TEST(Sizes, OfARankAndOfAShareOfMemory) {
  for (const int ranks : {1, 2, 3}) {
    const auto cells = [&](const char* problem) {
      return miniapp::test::sized<Options>("advection", problem, ranks, 1e8).cells;
    };
    EXPECT_EQ(cells("problem: {cells: 50, local: true}"), 50 * ranks);
    for (const auto* share : {"problem: {memory_share: 0.5}", "problem: {memory_share: 0.5, local: true}"})
      EXPECT_NEAR(static_cast<double>(cells(share)), 0.5 * 1e8 / 16 * ranks, 20. * ranks);
  }
}

} // namespace
} // namespace kontor::advection

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The app of docs/dev/miniapp.md: u_tt = laplace u on a periodic square, by two levels of leapfrog.
#include "grid/for_cells.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/loan.hpp"
#include "stencil/stencil_app.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace kontor::wave {
namespace {

using stencil::Field;

constexpr int n = 24; // cells along each axis

/// to = 2 from - to + c (sum of neighbours - 4 from): `to` has the step before.
void leapfrog(const stencil::Space& instance, const grid::Block& block, const Field& from, const Field& to,
              const grid::Box& box, double c) {
  grid::for_cells<double>(
      "wave/leapfrog", instance, block, box, KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i) {
        const double sum = from(k, j, i - 1) + from(k, j, i + 1) + from(k, j - 1, i) + from(k, j + 1, i);
        to(k, j, i) = 2 * from(k, j, i) - to(k, j, i) + c * (sum - 4 * from(k, j, i));
      });
}

class Wave final : public stencil::StencilApp {
 public:
  Wave(const stencil::Options& options, const miniapp::RunContext& context)
      : StencilApp({.app = "wave", .field = "u", .spacing = {1.0 / n, 1.0 / n}, .two_levels = true}, options, context),
        steps_(options.steps) {}

  miniapp::Verification verify_start() override { return compare(0); }
  miniapp::Verification verify() override { return compare(steps_); }

 private:
  static constexpr double c = 0.3, pi = std::numbers::pi; ///< c = (time step / cell width)^2

  /// sin(2 pi (x + y)) cos(step angle), where sin(angle / 2)^2 = 2 c sin(pi / n)^2.
  static double exact(double x, double y, std::int64_t step) {
    const double angle = 2 * std::asin(std::sqrt(2 * c) * std::sin(pi / n));
    return std::sin(2 * pi * (x + y)) * std::cos(static_cast<double>(step) * angle);
  }

  void start(const Field& now, const Field& before) override {
    grid::set_values(now, block(), [](double x, double y, double) { return exact(x, y, 0); });
    grid::set_values(before, block(), [](double x, double y, double) { return exact(x, y, -1); });
  }

  void step(const stencil::Space& instance, const Field& from, const Field& to, const grid::Box& box) override {
    leapfrog(instance, block(), from, to, box, c);
  }

  miniapp::Verification compare(std::int64_t steps) const {
    const double error = grid::largest_difference(field(), block(), [&](std::int64_t i, std::int64_t j, std::int64_t) {
      return exact((static_cast<double>(i) + 0.5) / n, (static_cast<double>(j) + 0.5) / n, steps);
    });
    return miniapp::judge(comm(), {{"u", error, 1e-11}});
  }

  std::int64_t steps_;
};

stencil::Options options_of(std::int64_t steps) {
  stencil::Options options({n, n});
  options.steps = steps;
  options.process_grid = {miniapp::test::world_size(), 1};
  if (stepping::on_device && miniapp::test::world_size() == 1) options.launch = stepping::Launch::graph;
  return options;
}

/// As a run makes it.
TEST(StencilApp, MakesVerifiedSteps) {
  for (const bool overlap : {false, true}) {
    miniapp::test::Loan loan("wave");
    Wave app(options_of(50), loan.context(overlap));
    app.warm_up();
    EXPECT_TRUE(app.verify_launches().passed());
    app.reset();
    EXPECT_TRUE(app.verify_start().passed());
    EXPECT_TRUE(app.verify().failed());
    app.run();
    EXPECT_TRUE(app.verify().passed()) << app.verify().error;
    EXPECT_TRUE(app.verify_start().failed());
    EXPECT_DOUBLE_EQ(app.figures(2.0, {}).front().value, n * n * 50 / 2.0);
    EXPECT_EQ(app.counts()->of_loop, 50);
    if (stepping::on_device && miniapp::test::world_size() == 1) {
      EXPECT_EQ(app.record().at("launch"), "graph");
    }
    EXPECT_EQ(app.record().at("cells"), (std::vector<std::int64_t>{n, n}));
  }
}

/// Both levels are in the checkpoint.
TEST(StencilApp, ResumesFromACheckpoint) {
  const miniapp::test::Folder folder("stencil");
  const auto path = folder / "state.h5";
  miniapp::test::Loan loan("wave");
  {
    Wave app(options_of(21), loan.context());
    loan.run(app);
    output::File file(MPI_COMM_WORLD, path);
    app.write_state(file);
    file.commit();
  }
  Wave app(options_of(50), loan.context());
  app.warm_up();
  app.reset();
  app.read_state(output::Reader(MPI_COMM_WORLD, path));
  app.run();
  EXPECT_TRUE(app.verify().passed()) << app.verify().error;
  EXPECT_DOUBLE_EQ(app.figures(2.0, {}).front().value, n * n * 29 / 2.0);
}

} // namespace
} // namespace kontor::wave

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every measure is right at odd sizes on any number of ranks, says what it refuses, and is not verified before it runs.
#include "kernels/gram_schmidt.hpp"
#include "kernels/kernels.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"
#include "run/tests/sized.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace kontor::kernels {
namespace {

Options read(const std::string& problem, int ranks = 3) {
  return miniapp::test::sized<Options>(
      "kernels", "problem: {repetitions: 2, warm_up: 1, shortest_sample: 0, " + problem + "}", ranks, 1e9);
}

std::string refusal(const std::string& problem) {
  return miniapp::test::error_of([&] { read(problem); });
}

struct App : miniapp::test::Loan {
  std::unique_ptr<miniapp::MiniApp> app;
  explicit App(const std::string& problem)
      : Loan("kernels"), app(make_kernels(read(problem, comm.size()), context())) {}
  miniapp::MiniApp* operator->() const { return app.get(); }
};

TEST(Kernels, AreRightAtOddSizes) {
  for (const auto* problem :
       {"measure: gradient, sizes: [1, 33]", "measure: gradient, sizes: [33], precision: float",
        "measure: gram_schmidt, sizes: [10, 101], columns: 5", "measure: gram_schmidt, sizes: [3], columns: 1",
        "measure: gram_schmidt, sizes: [101], sums: reproducible", "measure: fill, sizes: [1, 2, 5]",
        "measure: reductions, sizes: [1, 1001]", "measure: atomics, sizes: [1, 1001], cells: 3",
        "measure: mdrange, sizes: [1, 7]", "measure: spmv, sizes: [1, 2, 7]"}) {
    const App app(problem);
    EXPECT_FALSE(app->verify().conclusive) << problem;
    app.run(*app.app);
    const auto verdict = app->verify();
    EXPECT_TRUE(verdict.passed()) << problem << ": " << verdict.error;
    EXPECT_GT(app->record().field_memory, 0);
    for (const auto& figure : app->figures(1, {})) EXPECT_GT(figure.value, 0) << problem << ": " << figure.name;
  }
}

/// A rank divides the sizes of one rank; rates are those of all ranks.
TEST(Kernels, HaveAPointAWayAndSizeAndFiguresOfTheLastSize) {
  const App app("measure: gradient, sizes: [3, 5]");
  app.run(*app.app);
  const auto record = app->record().extras;
  EXPECT_EQ(record["measure"], "gradient");
  ASSERT_EQ(record["curves"].size(), 6u);
  EXPECT_EQ(record["ratios"].size(), 4u);
  const auto& last = record["curves"][5];
  EXPECT_EQ(last["series"], "fixed_extents");
  EXPECT_EQ(last["bytes"], 5 * 48 * 8);
  const auto figures = app->figures(1, {});
  ASSERT_EQ(figures.size(), 6u);
  EXPECT_EQ(figures[5].name, "flops_fixed_extents");
  EXPECT_DOUBLE_EQ(figures[5].value, app.comm.size() * 5 * 318 / last["median"].get<double>());
  EXPECT_DOUBLE_EQ(figures[5].moved.read, app.comm.size() * 5 * 24 * 8);
}

/// R of these rows on the ranks of the communicator, by reproducible sums.
std::vector<double> factor(const comm::Communicator& comm, std::int64_t n, int columns) {
  const auto first = n * comm.rank() / comm.size(), rows = n * (comm.rank() + 1) / comm.size() - first;
  const auto q = filled(Matrix("q", rows, columns), [=](auto i, auto j, auto) { return random_number(first + i, j); });
  const Matrix r("r", columns, columns);
  stepping::GlobalDots dots(comm, "dots", 1, Space(), stepping::SumKind::reproducible);
  modified_gram_schmidt(Space(), q, r, dots);
  const auto found = on_host(r);
  return {found.data(), found.data() + found.size()};
}

TEST(GramSchmidt, HasTheSameBitsOnAnyNumberOfRanks) {
  const auto here = factor(comm::Communicator(MPI_COMM_WORLD), 1001, 7);
  const auto alone = factor(comm::Communicator(MPI_COMM_SELF), 1001, 7);
  EXPECT_EQ(std::memcmp(here.data(), alone.data(), here.size() * sizeof(double)), 0);
}

TEST(Options, SayWhatIsRefused) {
  using miniapp::test::expect_facts;
  expect_facts(refusal("measure: spmv, sizes: [8, 401]"), {"problem.sizes[1]", "401", "400"});
  expect_facts(refusal("measure: mdrange, sizes: [1291]"), {"problem.sizes[0]", "1291", "1290"});
  expect_facts(refusal("measure: gram_schmidt, sizes: [9], columns: 5"), {"problem.sizes[0]", "9", "10", "two rows"});
  expect_facts(refusal("measure: gram_schmidt, sizes: [2], columns: 1"), {"2", "3", "one a rank"});
  expect_facts(refusal("sizes: [0]"), {"problem.sizes"});
  for (const auto* key : {"columns: 4", "sums: reproducible", "graph: off"})
    expect_facts(refusal(key), {key == std::string("graph: off") ? "problem.graph" : "problem.", "gram_schmidt"});
  expect_facts(refusal("cells: 4"), {"problem.cells", "atomics"});
  expect_facts(refusal("measure: fill, precision: float"), {"problem.precision", "gradient"});
}

TEST(Options, KnowTheMemoryOfARank) {
  EXPECT_EQ(bytes_of_views(read("measure: gradient, sizes: [10, 7], precision: float"), 1), 10 * 48 * 4);
  EXPECT_EQ(bytes_of_views(read("measure: gram_schmidt, sizes: [300], columns: 4"), 3), 2 * 100 * 4 * 8);
  EXPECT_EQ(bytes_of_views(read("measure: mdrange, sizes: [10]"), 1), 2 * 1000 * 8);
}

/// The host takes part in each sum, so nothing can be captured.
TEST(GramSchmidt, RefusesAGraphOnTheHost) {
  if (!device::kernels_on_host) GTEST_SKIP();
  App app("measure: gram_schmidt, sizes: [40], graph: on");
  miniapp::test::expect_facts(miniapp::test::error_of([&] { app.run(*app.app); }), {"graph", "host"});
}

} // namespace
} // namespace kontor::kernels

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every measure is right at odd sizes on any number of ranks, says what it refuses, and is not verified before it runs.
#include "kernels/bench.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"
#include "run/tests/sized.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace kontor::kernels {
namespace {

Options read(const std::string& problem, int ranks = 3) {
  return miniapp::test::sized<Options>(
      "kernels", "problem: {repetitions: 2, warm_up: 1, shortest_sample: 0, " + problem + "}", ranks, 1e9);
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
    EXPECT_GT(app->record().at("field_memory"), 0);
    for (const auto& figure : app->figures(1, {})) EXPECT_GT(figure.value, 0) << problem << ": " << figure.name;
  }
}

/// A rank divides the sizes of one rank; rates are those of all ranks.
TEST(Kernels, HaveAPointAWayAndSizeAndFiguresOfTheLastSize) {
  const App app("measure: gradient, sizes: [3, 5]");
  app.run(*app.app);
  const auto record = app->record();
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
  const std::pair<const char*, std::vector<std::string>> refusals[] = {
      {"measure: spmv, sizes: [8, 401]", {"problem.sizes[1]", "401", "400"}},
      {"measure: mdrange, sizes: [1291]", {"problem.sizes[0]", "1291", "1290"}},
      {"measure: gram_schmidt, sizes: [9], columns: 5", {"problem.sizes[0]", "9", "10", "two rows"}},
      {"measure: gram_schmidt, sizes: [2], columns: 1", {"2", "3", "one a rank"}},
      {"sizes: [0]", {"problem.sizes"}},
      {"columns: 4", {"problem.columns", "gram_schmidt"}},
      {"sums: reproducible", {"problem.sums", "gram_schmidt"}},
      {"launch: per_kernel", {"problem.launch", "gram_schmidt"}},
      {"cells: 4", {"problem.cells", "atomics"}},
      {"measure: fill, precision: float", {"problem.precision", "gradient"}}};
  for (const auto& [problem, facts] : refusals)
    miniapp::test::expect_facts(miniapp::test::error_of([p = problem] { read(p); }), facts);
}

TEST(Options, KnowTheMemoryOfARank) {
  EXPECT_EQ(bytes_of_views(read("measure: gradient, sizes: [10, 7], precision: float"), 1), 10 * 48 * 4);
  EXPECT_EQ(bytes_of_views(read("measure: gram_schmidt, sizes: [300], columns: 4"), 3), 2 * 100 * 4 * 8);
  EXPECT_EQ(bytes_of_views(read("measure: mdrange, sizes: [10]"), 1), 2 * 1000 * 8);
}

/// The host takes part in each sum, so nothing can be captured.
TEST(GramSchmidt, RefusesAGraphOnTheHost) {
  if (!device::kernels_on_host) GTEST_SKIP();
  App app("measure: gram_schmidt, sizes: [40], launch: graph");
  miniapp::test::expect_facts(miniapp::test::error_of([&] { app.run(*app.app); }), {"launch", "host"});
}

} // namespace
} // namespace kontor::kernels

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a solve is judged by: places of the sample, entries of a file by a second reader, guesses, counts, launches.
#include "cg/check/file_entries.hpp"
#include "cg/scale.hpp"
#include "methods.hpp"
#include "small_system.hpp"

#include <set>

namespace kontor::cg::test {
namespace {

TEST(Check, EveryFaceEdgeAndCornerIsLookedAt) {
  const comm::Communicator alone(MPI_COMM_SELF);
  constexpr std::int64_t n = 31;
  std::set<std::array<int, 3>> kinds;
  for (const auto row : rows_to_verify(alone, 1, {{n, n, n}, {}, {n, n, n}})) {
    const auto side = [](std::int64_t at) { return at == 0 ? -1 : at == n - 1 ? 1 : 0; };
    kinds.insert({side(row % n), side(row / n % n), side(row / n / n)});
  }
  EXPECT_EQ(kinds.size(), 27u);
}

TEST(Check, AFileIsReadTwice) {
  const miniapp::test::Folder folder("cg-check");
  auto text = text_of(shuffled_grid(5, true));
  text.insert(text.find('\n') + 1, "% a comment\r\n\r\n");
  Options options;
  options.kind = ProblemKind::matrix_market;
  options.matrix_market.file.path = write(folder, "a.mtx", text);
  App app(options, world());
  EXPECT_TRUE(app.verified().passed());
  const auto problem = make_problem(options, app.context());
  ReferenceRows rows;
  const auto system = problem->build(
      [&](const WholeSystem& whole) { rows = reference_of(whole, options.matrix_market, app.context().seed); });
  const auto& p = system.partition;
  const Vector all("all", p.global.extent(0)), y("y", p.own);
  const auto multiply = [&](const Vector& x, const Vector& to) {
    make_csr(system.matrix, p.interior)->multiply(Space(), Part::all, x, to);
    Kokkos::fence();
  };
  const auto verified = [&](std::int64_t entries) {
    return verify_entries(world(), p, entries, rows, multiply, all, y).passed();
  };
  EXPECT_TRUE(verified(system.entries()));
  EXPECT_FALSE(verified(system.entries() + 1));
  scale(Space(), system.matrix.values, 1.05, system.matrix.values);
  Kokkos::fence();
  EXPECT_FALSE(verified(system.entries()));
}

TEST(Check, NumbersOfFortranAndSparseVectors) {
  const miniapp::test::Folder folder("cg-check");
  const auto name = write(
      folder, "b.mtx", "%%MatrixMarket matrix Coordinate real general\n%\n4 1 3\n4 1 +1.5D+01\n\n1 1 .25-1\n2 1 -3\n");
  EXPECT_EQ(read_some_values(name, {0, 1, 2, 3}), (Values{0.025, -3, 0, 15}));
  EXPECT_EQ(read_some_values(write(folder, "c.txt", "1\n 2\n%\n3"), {0, 2}), (Values{1, 3}));
}

TEST(Check, GuessesAndCounts) {
  auto options = reproducible(ProblemKind::fe_heat, Method::pipelined, PreconditionerKind::none);
  options.initial = config::Expression("sin(x)");
  options.process_grid = {1, 1, world().size()};
  App app(options, world());
  app.cg.reset();
  EXPECT_TRUE(app.cg.verify_start().passed());
  app.cg.run();
  EXPECT_FALSE(app.cg.verify_start().passed()); // the solution
  EXPECT_TRUE(miniapp::verify_counts(*app.cg.counts()).passed());
  EXPECT_GT(app.cg.counts()->of_field, 10);
}

TEST(Check, GraphsHaveTheBitsOfSingleLaunches) {
  if (world().size() > 1) GTEST_SKIP() << "the host takes part in sums";
  SolverOptions options{.tolerance = 0, .max_iterations = 40};
  options.launch = stepping::Launch::graph;
  Bench bench(world(), irregular(60), options, true, true);
  const auto verified = bench.solver()->verify_launches();
  EXPECT_TRUE(verified.passed()) << verified.error;
  EXPECT_EQ(verified.judged.size(), 1u);
}

} // namespace
} // namespace kontor::cg::test

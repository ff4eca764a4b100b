// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The history of norms is complete and right, and sweeps stop where they should, also where norms are read late.
#include "run.hpp"

#include <kontor/sums/accumulator.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kontor::heat::test {
namespace {

/// `norm` may be followed by other keys of the solver.
std::string deck(double tolerance, int max_sweeps, int check_every, const char* norm) {
  return steady_deck(fmt::format("tolerance: {}, max_sweeps: {}, check_every: {}, norm: {}", tolerance, max_sweeps,
                                 check_every, norm));
}

/// The fields after 0, 1, ... sweeps.
std::vector<std::vector<double>> fields_after(int sweeps) {
  std::vector<std::vector<double>> fields;
  for (int n = 0; n <= sweeps; ++n) {
    const Problem<double> problem(read_options(deck(0, std::max(n, 1), 0, "max"), 1), MPI_COMM_SELF);
    if (n > 0) problem.heat->run();
    const auto cells = problem.heat->domain().current_on_host();
    auto& field = fields.emplace_back();
    for (std::size_t j = 0; j < cells.extent(1); ++j)
      for (std::size_t i = 0; i < cells.extent(2); ++i) field.push_back(cells(0, j, i));
  }
  return fields;
}

/// The norms of the first sweeps, by fields that are a sweep apart.
std::vector<double> norms_by_difference(int sweeps, bool largest) {
  const auto fields = fields_after(sweeps);
  std::vector<double> norms(static_cast<std::size_t>(sweeps));
  for (std::size_t n = 0; n < norms.size(); ++n) {
    for (std::size_t i = 0; i < fields[n].size(); ++i) {
      const double change = fields[n + 1][i] - fields[n][i];
      norms[n] = largest ? std::max(norms[n], std::abs(change)) : norms[n] + change * change;
    }
    if (!largest) norms[n] = std::sqrt(norms[n]);
  }
  return norms;
}

TEST(History, IsCompleteAndRight) {
  for (const bool largest : {true, false}) {
    const auto expected = norms_by_difference(12, largest);
    for (const bool overlap : {false, true}) {
      const Problem<double> problem(deck(0, 12, 1, largest ? "max" : "l2"), {}, overlap);
      problem.run();
      const auto history = problem.heat->record().at("history");
      const std::vector<double> norms = history.at("norm");
      ASSERT_EQ(norms.size(), expected.size());
      for (std::size_t n = 0; n < norms.size(); ++n) {
        EXPECT_EQ(history.at("iteration")[n], static_cast<std::int64_t>(n + 1));
        EXPECT_NEAR(norms[n], expected[n], 1e-13 * expected[n]);
      }
    }
  }
}

/// Reproducible sums are the exact ones, rounded once, on any number of ranks, on hosts and devices.
TEST(History, OfReproducibleSumsIsExact) {
  const auto fields = fields_after(5);
  for (const bool overlap : {false, true}) {
    const Problem<double> problem(deck(0, 5, 1, "l2, sums: reproducible"), {}, overlap);
    problem.run();
    const std::vector<double> norms = problem.heat->record().at("history").at("norm");
    EXPECT_EQ(problem.heat->record()["sums"], "reproducible");
    ASSERT_EQ(norms.size(), 5u);
    for (std::size_t n = 0; n < norms.size(); ++n) {
      std::int64_t sum[sums::length] = {};
      for (std::size_t i = 0; i < fields[n].size(); ++i) {
        const double change = fields[n + 1][i] - fields[n][i];
        sums::add_value(sum, change * change);
      }
      EXPECT_EQ(norms[n], std::sqrt(sums::rounded(sum)));
    }
  }
}

/// A history is the same to the bit where sweeps with norms are made by graphs, and it is complete where graphs and
/// single sweeps take turns.
TEST(History, IsTheSameByGraph) {
  if (!on_device) GTEST_SKIP() << "no graphs";
  for (const int check_every : {1, 3, 5, 7, 16, 17}) {
    nlohmann::ordered_json histories[2];
    for (const bool graph : {false, true}) {
      auto options = read_options(deck(0, 453, check_every, "l2"), 1);
      options.launch = graph ? Launch::graph : Launch::per_kernel;
      const Problem<double> problem(options, MPI_COMM_SELF);
      problem.run();
      histories[graph] = problem.heat->record().at("history");
      EXPECT_EQ(problem.heat->record()["launch"], graph ? "graph" : "per_kernel");
      if (graph) {
        EXPECT_GT(problem.timers.entries().at("graph").calls, 12);
      }
    }
    EXPECT_EQ(histories[0].at("norm").size(), (453u + check_every - 1) / check_every);
    EXPECT_EQ(histories[0], histories[1]) << "check_every " << check_every;
  }
}

/// Stops at the first norm below the tolerance, with the field that has this norm; also where the limit is one later.
TEST(Tolerance, StopsAtTheSweepThatReachesIt) {
  Problem<double> all(read_options(deck(0, 210, 1, "max"), 1), MPI_COMM_SELF);
  all.heat->run();
  const std::vector<double> norms = all.heat->record().at("history").at("norm");
  ASSERT_EQ(norms.size(), 210u) << "more than two batches that are read late, and one that is not full";
  for (const int check_every : {1, 2, 7}) {
    for (const int enough : {1, 42, 98, 196, 197}) {
      const double tolerance = norms[enough - 1] * (1 + 1e-12);
      const int stop = (enough + check_every - 1) / check_every * check_every;
      const Problem<double> problem(deck(tolerance, enough % 2 == 0 ? stop + 1 : 300, check_every, "max"));
      problem.heat->run();
      const auto record = problem.heat->record();
      EXPECT_EQ(record["sweeps"], stop);
      EXPECT_EQ(problem.heat->domain().sweeps(), stop);
      EXPECT_EQ(record.at("history").at("iteration").back(), stop);
      EXPECT_EQ(record.at("history").at("norm").back(), norms[stop - 1]);
      EXPECT_EQ(record.at("history").at("norm").size(), static_cast<std::size_t>(stop / check_every));
      const auto result = problem.heat->verify(); // too soon to pass, but it is the field of that norm
      EXPECT_LE(result.error, result.tolerance);
    }
  }
}

} // namespace
} // namespace kontor::heat::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every format gives the bits of a plain loop.
#include "cg/matrix/sell.hpp"
#include "cg/options.hpp"
#include "cg/problem/problem.hpp"
#include "small_system.hpp"

#include <set>

namespace kontor::cg::test {
namespace {

constexpr double untouched = -7.25;

/// Rows of random lengths and columns, none given twice: some empty, few long.
CompressedRows random_rows(int rows, int columns, int usual, int longest, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<std::int64_t> offsets{0};
  std::vector<LocalIndex> to;
  std::vector<double> values;
  for (int row = 0; row < rows; ++row) {
    const int kind = below(10);
    const int length = std::min(columns, kind == 0 ? 0 : kind == 1 ? below(longest + 1) : usual);
    std::set<int> taken;
    while (static_cast<int>(taken.size()) < length) {
      const int column = below(columns);
      if (!taken.insert(column).second) continue;
      to.push_back(column);
      values.push_back(0.25 + 1e-3 * below(1000));
    }
    offsets.push_back(static_cast<std::int64_t>(to.size()));
  }
  return {to_view(offsets), to_view(to), to_view(values)};
}

using Formats = std::map<std::string, std::unique_ptr<Matrix>>;

/// All that is to have the bits of the loop, by name.
Formats formats_of(const CompressedRows& a, LocalIndex interior, LocalIndex columns) {
  Formats formats;
  for (const bool teams : {false, true}) {
    const std::string how = teams ? ", teams" : "";
    ProductTuning tuning{.teams = teams};
    formats["csr" + how] = make_csr(a, interior, tuning);
    if (teams) { // rows in several pieces
      tuning.staged = 5;
      formats["csr, teams, staged 5"] = make_csr(a, interior, tuning);
    }
    formats["sell" + how] = make_sell(a, interior, columns, tuning);
  }
  return formats;
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// y = A x by part and of all, and the dot, beside what the loop has.
void expect_product(const Matrix& matrix, const std::vector<double>& x, const std::vector<double>& expected,
                    LocalIndex interior) {
  const auto x_view = to_view(x);
  const auto own = static_cast<LocalIndex>(expected.size());
  const Vector sum("sum", 1);
  for (const bool with_dot : {false, true})
    for (const auto part : {Part::interior, Part::boundary, Part::all}) {
      const Vector y("y", own);
      Kokkos::deep_copy(y, untouched);
      Kokkos::deep_copy(sum, untouched);
      if (with_dot)
        matrix.multiply_and_dot({}, part, x_view, y, sum.data());
      else
        matrix.multiply({}, part, x_view, y);
      const auto found = on_host(y);
      const auto range = range_of(part, own, interior);
      double dot = 0, size = 0;
      int wrong = 0;
      for (LocalIndex row = 0; row < own && wrong < 3; ++row) {
        const auto r = static_cast<std::size_t>(row);
        const bool computed = range.begin <= row && row < range.end;
        const bool right = same_bits(found[r], computed ? expected[r] : untouched);
        if (!right) ++wrong;
        EXPECT_TRUE(right) << "row " << row << " of " << own << ", interior " << interior << ": " << found[r]
                           << " is not " << (computed ? expected[r] : untouched);
        if (!computed) continue;
        dot += x[r] * expected[r];
        size += std::abs(x[r] * expected[r]);
      }
      if (!with_dot || !std::isfinite(dot)) continue;
      EXPECT_NEAR(on_host(sum)[0], dot, 1e-13 * size);
      const double first = on_host(sum)[0];
      matrix.multiply_and_dot({}, part, x_view, y, sum.data());
      EXPECT_TRUE(same_bits(first, on_host(sum)[0]));
    }
}

void expect_products(const Formats& formats, const std::vector<double>& x, const std::vector<double>& expected,
                     LocalIndex interior) {
  for (const auto& [name, matrix] : formats) {
    SCOPED_TRACE(name);
    expect_product(*matrix, x, expected, interior);
  }
}

std::vector<double> some_values(LocalIndex count) {
  std::vector<double> x;
  for (LocalIndex i = 0; i < count; ++i) x.push_back(std::sin(1.0 + 0.7 * i) + 0.01);
  return x;
}

TEST(Formats, RandomRowsHaveTheBitsOfALoop) {
  const struct {
    int rows, interior, ghosts, usual, longest;
  } shapes[] = {{0, 0, 0, 1, 1},        {1, 1, 0, 3, 3},         {1, 0, 2, 3, 3},        {7, 3, 1, 2, 40},
                {31, 31, 0, 5, 9},      {33, 16, 5, 0, 3},       {300, 264, 20, 9, 300}, {257, 1, 3, 4, 30},
                {1000, 900, 50, 6, 80}, {20000, 19990, 10, 2, 3}};
  unsigned seed = 1;
  for (const auto& [rows, interior, ghosts, usual, longest] : shapes) {
    const auto a = random_rows(rows, std::max(1, rows + ghosts), usual, longest, seed++);
    const auto x = some_values(rows + ghosts), expected = plain_product(HostRows(a), x);
    expect_products(formats_of(a, interior, rows + ghosts), x, expected, interior);
  }
}

/// Several blocks of chunks that share columns, but for one in six, and a last block that is shorter.
TEST(Formats, RowsOfManyBlocksHaveTheBitsOfALoop) {
  constexpr LocalIndex rows = 9000;
  std::vector<std::int64_t> offsets{0};
  std::vector<LocalIndex> columns;
  for (LocalIndex row = 0; row < rows; ++row) {
    for (const LocalIndex column : {row - 1, row, row % 97 == 0 ? row * 31 % rows : row + 1})
      if (column >= 0 && column < rows) columns.push_back(column);
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  const CompressedRows a{to_view(offsets), to_view(columns),
                         to_view(some_values(static_cast<LocalIndex>(columns.size())))};
  const auto x = some_values(rows);
  expect_products(formats_of(a, rows, rows), x, plain_product(HostRows(a), x), rows);
}

TEST(Formats, WhatIsNotFiniteStaysInItsRows) {
  const int rows = 300;
  const auto a = random_rows(rows, rows, 5, 60, 3);
  auto x = some_values(rows);
  for (const std::size_t row : {0, 8, 100, 299}) x[row] = std::numeric_limits<double>::infinity();
  const auto expected = plain_product(HostRows(a), x);
  EXPECT_TRUE(std::isfinite(expected[0]) || std::isfinite(expected[1]) || std::isfinite(expected[2]));
  expect_products(formats_of(a, rows, rows), x, expected, rows);
}

TEST(Formats, SkipProductsThatAreTooMany) {
  const int rows = 300;
  const auto a = random_rows(rows, rows, 5, 60, 3);
  const auto x = some_values(rows), products = plain_product(HostRows(a), x);
  const Kokkos::View<int, Space> number("number");
  for (const auto& [name, matrix] : formats_of(a, rows, rows))
    for (const bool too_many : {false, true}) {
      SCOPED_TRACE(name);
      const bool skips = too_many && (!device::kernels_on_host || name.find("teams") != std::string::npos);
      const Vector y("y", rows), sum("sum", 1);
      Kokkos::deep_copy(number, too_many ? 1 : 0);
      matrix->skip_if(number.data());
      matrix->multiply_and_dot({}, Part::all, to_view(x), y, sum.data());
      EXPECT_EQ(on_host(y), skips ? std::vector<double>(rows, 0.0) : products);
      EXPECT_EQ(on_host(sum)[0] == 0, skips);
    }
}

/// A system of the deck's kind `stencil` over all ranks.
class StencilFormats : public testing::TestWithParam<int> {
 protected:
  void make(std::vector<std::int64_t> points, std::vector<std::int64_t> grid) {
    options_.stencil.points = std::move(points);
    options_.stencil.size = GetParam();
    options_.process_grid = std::move(grid);
    problem_ = make_problem(options_, {loan_.comm, true, loan_.timers, loan_.progress});
    system_ = problem_->build();
    global_ = on_host(system_.partition.global);
    x_.clear();
    for (const auto row : global_) x_.push_back(value(row));
  }
  static double value(GlobalIndex row) { return std::sin(0.3 * static_cast<double>(row)); }

  /// A row of the whole matrix by a plain loop over the points around.
  double plain_row(GlobalIndex row) const {
    const auto& n = options_.stencil.points;
    const GlobalIndex i = row % n[0], j = row / n[0] % n[1], k = row / n[0] / n[1];
    double sum = 0;
    for (GlobalIndex dk = -1; dk <= 1; ++dk)
      for (GlobalIndex dj = -1; dj <= 1; ++dj)
        for (GlobalIndex di = -1; di <= 1; ++di) {
          const auto distance = di * di + dj * dj + dk * dk;
          if (GetParam() == 7 && distance > 1) continue;
          if (i + di < 0 || i + di >= n[0] || j + dj < 0 || j + dj >= n[1] || k + dk < 0 || k + dk >= n[2]) continue;
          sum += (distance == 0 ? GetParam() - 1 : -1.0) * value(row + di + n[0] * (dj + n[1] * dk));
        }
    return sum;
  }

  Formats formats() const {
    const auto& partition = system_.partition;
    auto all = formats_of(system_.matrix, partition.interior, partition.own + partition.ghosts);
    all["matrix_free"] = problem_->matrix_free();
    all["matrix_free, teams"] = problem_->matrix_free({.teams = true});
    return all;
  }

  void expect_all() const {
    std::vector<double> expected;
    const auto& partition = system_.partition;
    for (LocalIndex row = 0; row < partition.own; ++row)
      expected.push_back(plain_row(global_[static_cast<std::size_t>(row)]));
    expect_products(formats(), x_, expected, partition.interior);
  }

  miniapp::test::Loan loan_{"cg"};
  Options options_;
  std::unique_ptr<Problem> problem_;
  LinearSystem system_;
  std::vector<GlobalIndex> global_;
  std::vector<double> x_;
};

TEST_P(StencilFormats, HaveTheBitsOfTheWholeMatrixOnAnyRanks) {
  const std::int64_t ranks = loan_.comm.size();
  for (const auto& grid : {std::vector<std::int64_t>{1, 1, ranks}, {ranks, 1, 1}, {1, ranks, 1}}) {
    make({37, 9, 5}, grid);
    expect_all();
    make({5, 4, 70}, grid);
    expect_all();
  }
  if (ranks == 4) {
    make({41, 8, 6}, {2, 2, 1});
    expect_all();
  }
}

TEST_P(StencilFormats, WhatIsNotFiniteStaysInItsRows) {
  // At the end of a line of points: the next line begins in the same chunk, and its first point has no neighbour there.
  make({37, 9, 5}, {1, 1, loan_.comm.size()});
  for (std::size_t i = 0; i < global_.size(); ++i)
    if (global_[i] % (37 * 9) == 4 * 37 + 36) x_[i] = std::numeric_limits<double>::infinity();
  expect_products(formats(), x_, plain_product(HostRows(system_.matrix), x_), system_.partition.interior);
}

TEST_P(StencilFormats, SellNeedsFewBytesForColumns) {
  make({64, 16, 8 * std::int64_t{loan_.comm.size()}}, {1, 1, loan_.comm.size()});
  const auto& a = system_.matrix;
  const auto columns = system_.partition.own + system_.partition.ghosts;
  const double csr = make_csr(a, system_.partition.interior)->bytes();
  const double sell = make_sell(a, system_.partition.interior, columns)->bytes();
  EXPECT_LT(sell, (GetParam() == 27 ? 0.8 : 0.9) * csr);
  EXPECT_GT(sell, 8.0 * static_cast<double>(a.entries()) + 16.0 * a.rows());
}

INSTANTIATE_TEST_SUITE_P(Sizes, StencilFormats, testing::Values(7, 27));

TEST(Sell, SortsWhereItSavesPadding) {
  // One row in sixteen has 40 entries, the others 2.
  std::vector<std::int64_t> offsets{0};
  std::vector<LocalIndex> columns;
  std::vector<double> values;
  for (int row = 0; row < 1024; ++row) {
    offsets.push_back(offsets.back() + (row % 16 == 3 ? 40 : 2));
    for (auto e = offsets[offsets.size() - 2]; e < offsets.back(); ++e) {
      columns.push_back(static_cast<LocalIndex>(e * 37 % 1024));
      values.push_back(1.0 + 0.01 * static_cast<double>(e % 100));
    }
  }
  const CompressedRows a{to_view(offsets), to_view(columns), to_view(values)};
  const auto rows = make_sell_rows(a, 1024, 1024);
  const double padded = device::kernels_on_host ? 1.3 : 1.6; // chunks of a device are longer
  EXPECT_LT(rows.values.extent(0), padded * static_cast<double>(a.entries()));
  EXPECT_EQ(rows.wide.extent(0), 0u);
  const auto x = some_values(1024);
  expect_product(*make_sell(a, 1024, 1024), x, plain_product(HostRows(a), x), 1024);
}

TEST(Positions, TooManyAreRefusedWithWhatToDo) {
  EXPECT_EQ(excess_of_positions(0, 1000, 1024), std::nullopt);
  EXPECT_EQ(excess_of_positions(0, 1 << 30, most_positions), std::nullopt);
  expect_facts(excess_of_positions(7, 70000001, most_positions + 1).value(),
               {"rank 7", "70000001 rows", "2147418113 positions", "2147418112:", "more ranks", "solver.format: csr"});
}

/// Padding counts; blocks of rows on a host have numbers of 64 bits.
TEST(Positions, AreThoseOfTeams) {
  const CompressedRows a{to_view(std::vector<std::int64_t>{0, 1, 2, 3}), to_view(std::vector<LocalIndex>{0, 1, 2}),
                         to_view(std::vector<double>{1, 2, 3})};
  ProductTuning tuning{.teams = true};
  EXPECT_EQ(make_csr(a, 2, tuning)->positions(), 3);
  EXPECT_EQ(make_sell(a, 2, 3, tuning)->positions(), 2 * sell_chunk);
  tuning.teams = false;
  EXPECT_EQ(make_csr(a, 2, tuning)->positions(), device::kernels_on_host ? 0 : 3);
}

TEST(FormatOptions, WhatCannotMultiplyIsRefusedWithWhatCan) {
  expect_facts(refusal_of("{app: cg, problem: {kind: matrix_market, matrix_market: {file: a.mtx}}, solver: "
                          "{format: matrix_free}}"),
               {"deck.yaml:1:", "solver.format", "matrix_free", "problem.kind: stencil", "csr"});
  EXPECT_EQ(refusal_of("{app: cg, solver: {format: matrix_free}}"), "");
}

/// Their number fits into 64 bits only after it has been cut off.
TEST(StencilOptions, TooManyPointsAreRefused) {
  for (const std::string points : {"[1099511627776, 1099511627776, 1099511627776]", "[1099511627776, 16777216, 1]"})
    expect_facts(refusal_of("{app: cg, problem: {stencil: {points: " + points + "}}}"),
                 {"deck.yaml:1:", "problem.stencil.points", "1e+15"});
}

} // namespace
} // namespace kontor::cg::test

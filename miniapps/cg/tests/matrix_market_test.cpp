// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of matrices and vectors, and which rank is to have which rows.
#include "partition/lines.hpp"
#include "partition/matrix_market_reader.hpp"
#include "partition/metis_partition.hpp"
#include "partition/row_plan.hpp"
#include "small_system.hpp"

#include <sstream>

namespace kontor::cg::test {
namespace {

using namespace header;

constexpr auto no_limit = std::numeric_limits<double>::infinity();

CoordinateMatrix checked(const std::string& text, double memory = no_limit) {
  std::istringstream in(text);
  auto matrix = read_matrix(in, "m.mtx", memory);
  sort_entries(matrix);
  require_symmetric_with_positive_diagonal(matrix);
  return matrix;
}

std::vector<double> vector_of(const std::string& text, std::int64_t rows = 3) {
  std::istringstream in(text);
  return read_vector(in, "v.mtx", rows);
}

/// Values by row and column, 0 where there is no entry.
std::vector<std::vector<double>> dense(const CoordinateMatrix& matrix) {
  std::vector<std::vector<double>> values(matrix.rows, std::vector<double>(matrix.rows, 0));
  for_each_entry(matrix, [&](auto row, auto column, double value) { values[row][column] = value; });
  return values;
}

TEST(MatrixMarketFile, MayBeWrittenInManyWays) {
  const std::vector<std::vector<double>> expected{{2, -1, 0}, {-1, 2.5, -1e-3}, {0, -1e-3, 3}};
  for (const auto& text : {
           symmetric + "3 3 5\n1 1 2\n2 1 -1\n2 2 2.5\n3 2 -1e-3\n3 3 3\n",
           std::string("%%MatrixMarket matrix coordinate real symmetric\r\n% comment\r\n\r\n3 3 5\r\n"
                       "3 3 3.\r\n2 2 25E-1\r\n1 1 2\r\n3 2 -1e-3\r\n2 1 -1"),
           general + "3 3 7\n1 1 +2\n+2 1 -1\n1 2 -1\n2 2 2.5\n3 2 -1d-3\n2 3 -.1D-02\n3 3 3\n",
           general + "+3 3 +8\n1 1 2\n2 1 -1\n1 2 -1\n2 2 .25+001\n3 2 -0.1-2\n2 3 -.1-02\n3 3 3d0\n3 1 0\n",
           general + "3 3 8\n1 1 2\n2 1 -1\n1 2 -1\n2 2 25.E-1\n3 2 -1e-3\n2 3 -.1e-2\n3 3 3\n1 3 1e-400\n",
           std::string("%%MATRIXMARKET Matrix\tCoordinate  REAL Symmetric \n%\n%x\n 3\t3 5 \n\n"
                       "  1   1 2.0\n% in between\n2 1 -1\n 2 2 2.5\n\t\n3 2\t-0.001\n3 3 3\n\n% end\n"),
       }) {
    const auto matrix = checked(text);
    EXPECT_EQ(dense(matrix), expected) << text;
    EXPECT_EQ(matrix.nonzeros(), 7) << text;
  }
  EXPECT_EQ(checked("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 +9007199254740992").entries[0].value,
            9007199254740992.0);
  const auto value = [&](const std::string& number) {
    return checked(symmetric + "2 2 3\n1 1 1\n2 2 1\n2 1 " + number + "\n").entries[1].value;
  };
  EXPECT_EQ(value("0.15-101"), 0.15e-101);
  EXPECT_EQ(value("1.5D+3"), 1500);
  EXPECT_EQ(value("-1e-310"), -1e-310);
  EXPECT_EQ(checked(general + "2 2 4\n1 1 1e8\n2 2 1\n2 1 -1\n1 2 -1.00000000001\n").rows, 2); // but for rounding
  for (const auto* tiny : {"1e-400", "-1D-400", "0.15-401", "1e-99999999999"}) EXPECT_EQ(value(tiny), 0);
}

TEST(MatrixMarketFile, IsRefusedWithItsLine) {
  const std::string ok = symmetric + "2 2 3\n1 1 1\n2 1 -1\n2 2 4\n";
  EXPECT_EQ(checked(ok).rows, 2);
  const auto with = [&](std::string_view old, std::string_view text) {
    auto changed = ok;
    return changed.replace(changed.find(old), old.size(), text);
  };
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      // header
      {"", {"m.mtx: ", "empty", "%%MatrixMarket matrix coordinate"}},
      {"2 2 3\n1 1 1\n", {"m.mtx:1: ", "%%MatrixMarket matrix coordinate real|integer", "\"2 2 3\""}},
      {"\x1f\x8b\x08", {"m.mtx:1: ", "compressed", "gunzip"}},
      {"\xef\xbb\xbf" + ok, {"m.mtx:1: ", "byte order mark"}},
      {std::string("\xff\xfe%\0%\0", 6), {"m.mtx:1: ", "UTF-16"}},
      {std::string(257, '\0') + "ustar  " + ok, {"m.mtx:1: ", "tar archive", "tar xf"}},
      {with("real", "complex"), {"m.mtx:1: ", "\"complex\"", "real or integer"}},
      {with("symmetric", "skew-symmetric"), {"m.mtx:1: ", "\"skew-symmetric\"", "general or symmetric"}},
      {with("coordinate", "array"), {"m.mtx:1: ", "\"array\"", "coordinate"}},
      {with("symmetric", "symmetric x"), {"m.mtx:1: "}},
      {with("matrix", "vector"), {"m.mtx:1: ", "vector"}},
      // size line
      {symmetric + "% nothing\n", {"m.mtx:2: ", "rows, columns and entries"}},
      {with("2 2 3", "2 2"), {"m.mtx:2: ", "number of entries", "missing"}},
      {with("2 2 3", "2 2 3 4"), {"m.mtx:2: ", "\"4\""}},
      {with("2 2 3", "2 3 3"), {"m.mtx:2: ", "2 rows", "3 columns", "square"}},
      {with("2 2 3", "0 0 0"), {"m.mtx:2: ", "rows is 0", "1 or more"}},
      {with("2 2 3", "2 2 1"), {"m.mtx:2: ", "2 rows", "1 entries", "positive definite"}},
      {with("2 2 3", "2 2 99999999999999999999"), {"m.mtx:2: ", "\"99999999999999999999\"", "64 bits"}},
      {with("2 2 3", "2 2 1000000000000000"), {"m.mtx:5: ", "ends after 3 of the 1000000000000000 entries", "line 2"}},
      {with("2 2 3", "2 2 2.5"), {"m.mtx:2: ", "whole number", "\"2.5\""}},
      // entries
      {with("2 2 3", "2 2 2"), {"m.mtx:5: ", "more entries than the 2", "line 2"}},
      {with("2 1 -1", "2 1"), {"m.mtx:4: ", "value is missing"}},
      {with("2 1 -1", "2 1 x"), {"m.mtx:4: ", "number", "\"x\""}},
      {with("2 1 -1", "2 1 -1 0"), {"m.mtx:4: ", "a row, a column and a value", "\"0\""}},
      {with("2 1 -1", "2 1 nan"), {"m.mtx:4: ", "\"nan\"", "finite"}},
      {with("2 1 -1", "2 1 -1e300"), {"m.mtx:4: ", "\"-1e300\"", "1e+150", "[E-FILE-FORMAT]"}},
      {with("2 1 -1", "2 1 1e400"), {"m.mtx:4: ", "\"1e400\"", "double"}},
      {with("2 1 -1", "2 1 -1.5+400"), {"m.mtx:4: ", "\"-1.5+400\"", "double"}},
      {with("2 1 -1", "2 1 1-2"), {"m.mtx:4: ", "number", "\"1-2\""}},
      {with("2 1 -1", "++2 1 -1"), {"m.mtx:4: ", "row", "\"++2\""}},
      {with("2 1 -1", "3 1 -1"), {"m.mtx:4: ", "(3, 1)", "1 to 2"}},
      {with("2 1 -1", "2 0 -1"), {"m.mtx:4: ", "column is 0", "1 or more"}},
      {with("2 1 -1", "1 2 -1"), {"m.mtx:4: ", "(1, 2)", "above the diagonal", "lower triangle"}},
      {with("2 1 -1", "2 1 " + std::string(1 << 20, '1')), {"m.mtx:4: ", "1048576 characters"}},
      {with("2 1 -1", "1 1 -1"), {"m.mtx:4: ", "(1, 1) is given twice", "line 3"}},
      // what conjugate gradients need
      {with("2 2 4", "2 2 0"), {"m.mtx:5: ", "(2, 2) is 0", "above 0"}},
      {with("1 1 1", "1 1 -3"), {"m.mtx:3: ", "(1, 1) is -3", "above 0"}},
      {symmetric + "3 3 3\n1 1 1\n3 3 1\n2 1 1\n", {"m.mtx: ", "(2, 2) is missing"}},
      {general + "2 2 4\n1 1 1\n2 2 1\n2 1 -1\n1 2 -1.001\n",
       {"m.mtx:5: ", "(2, 1) is -1", "(1, 2) of line 6 is -1.001", "symmetric"}},
      {general + "2 2 3\n1 1 1\n2 2 1\n1 2 7\n", {"m.mtx:5: ", "(1, 2) is 7", "no entry (2, 1)", "symmetric"}},
      {general + "3 3 5\n1 1 1\n2 2 1\n3 3 1\n3 1 7\n2 3 7\n", {"m.mtx:6: ", "(3, 1) is 7", "no entry (1, 3)"}},
      // integers
      {with("real", "integer") + "x", {"m.mtx:6: ", "more entries"}},
      {"%%MatrixMarket matrix coordinate integer symmetric\n2 2 3\n1 1 1\n2 1 -1.5\n",
       {"m.mtx:4: ", "integer", "\"-1.5\""}},
  };
  for (const auto& [text, facts] : cases)
    expect_facts(error_of([&, t = text] { checked(t); }), facts, text.substr(0, 200));
  expect_facts(error_of([&] { checked(ok, 50); }), {"m.mtx:2: ", "3 entries", "GB"}, "no memory");
}

TEST(MatrixMarketFile, IsKnownByItsChecksum) {
  Crc32 crc;
  crc.add("1234", 4);
  crc.add("56789", 5);
  EXPECT_EQ(crc.value(), 0xcbf43926U); // as everybody has it
  const auto text = symmetric + "1 1 1\n1 1 3\n% more\n" + std::string(1 << 20, '\n') + "% end";
  Crc32 whole;
  whole.add(text.data(), text.size());
  EXPECT_EQ(checked(text).crc32, whole.value());
}

TEST(MatrixMarketFile, HasVectorsToo) {
  EXPECT_EQ(vector_of(array + "% b\n3 1\n1\n-2.5\n\n3e0"), (std::vector<double>{1, -2.5, 3}));
  EXPECT_EQ(vector_of(general + "3 1 2\n3 1 1.5d0\n+1 1 -2\n"), (std::vector<double>{-2, 0, 1.5}));
  for (const auto* plain : {"1\n-2.5\n+3\n", "% of a program\n\n 1 \r\n-.25D1\n3"})
    EXPECT_EQ(vector_of(plain), (std::vector<double>{1, -2.5, 3})) << plain;
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {"", {"v.mtx: ", "empty"}},
      {"1\n2\n", {"v.mtx:2: ", "2 of the 3 values", "the matrix has"}},
      {"% nothing\n", {"v.mtx:1: ", "0 of the 3 values"}},
      {"1\n2\n3\n4\n", {"v.mtx:4: ", "more values than the 3"}},
      {"1 2 3\n", {"v.mtx:1: ", "one value", "\"2\""}},
      {std::string("\xef\xbb\xbf") + "1\n2\n3\n", {"v.mtx:1: ", "byte order mark"}},
      {general + "3 1 2\n3 1 1\n3 1 2\n", {"v.mtx:4: ", "(3, 1)", "twice", "line 3"}},
      {general + "3 1 1\n4 1 1\n", {"v.mtx:3: ", "(4, 1)", "1 to 3"}},
      {array + "4 1\n1\n2\n3\n4\n", {"v.mtx:2: ", "4 rows", "3 rows of the matrix"}},
      {array + "3 2\n1\n2\n3\n1\n2\n3\n", {"v.mtx:2: ", "2 columns"}},
      {array + "3 1\n1\n2\n", {"v.mtx:4: ", "2 of the 3 values", "line 2"}},
      {array + "3 1\n1\n2\n3\n4\n", {"v.mtx:6: ", "more values than the 3"}},
      {symmetric + "3 3 3\n1 1 1\n2 2 1\n3 3 1\n", {"v.mtx:1: ", "\"symmetric\"", "general"}},
  };
  for (const auto& [text, facts] : cases) expect_facts(error_of([&, t = text] { vector_of(t); }), facts, text);
}

TEST(MatrixMarketFile, EntriesOfARowComeInTheOrderOfColumns) {
  for (const bool is_symmetric : {true, false}) {
    const auto matrix = shuffled_grid(7, is_symmetric);
    std::vector<std::int64_t> last(matrix.rows, -1);
    std::int64_t count = 0;
    for_each_entry(matrix, [&](auto row, auto column, double) {
      EXPECT_LT(last[row], column);
      last[row] = column;
      ++count;
    });
    EXPECT_EQ(count, matrix.nonzeros());
    EXPECT_EQ(count, 49 + 4 * 7 * 6);
  }
}

TEST(RowPlan, GivesEachRankARowAndBalancesBytes) {
  for (const std::int64_t n : {1, 2, 5})
    for (int ranks = 1; ranks <= n * n; ++ranks) {
      const auto plan = plan_rows(shuffled_grid(n, true), PartitionKind::rows, ranks);
      for (int rank = 0; rank < ranks; ++rank) EXPECT_LT(plan.first[rank], plan.first[rank + 1]);
      EXPECT_EQ(plan.first[ranks], n * n);
    }
  // The first row of an arrow has as many entries as all others: it weighs as much as a quarter of them.
  CoordinateMatrix arrow{.source = "", .rows = 1000, .symmetric = true, .entries = {}};
  for (std::int64_t row = 0; row < arrow.rows; ++row) {
    if (row > 0) arrow.entries.push_back({row, 0, -1, 1});
    arrow.entries.push_back({row, row, 2000, 1});
  }
  const auto plan = plan_rows(arrow, PartitionKind::rows, 2);
  EXPECT_NEAR(static_cast<double>(plan.first[1]), 450, 5);
  EXPECT_EQ(plan.cut, 2 * (1000 - plan.first[1]));
  EXPECT_EQ(plan.interior[1], 0); // all read row 0
}

TEST(RowPlan, IsNotMadeWithoutMemoryForIt) {
  const auto matrix = shuffled_grid(30, true);
  const auto refusal = [&](PartitionKind partition, double memory) {
    return error_of([&] { plan_rows(matrix, partition, 3, memory); });
  };
  constexpr double enough = 30 * 900; // for consecutive rows
  EXPECT_EQ(refusal(PartitionKind::rows, enough), "");
  expect_facts(refusal(PartitionKind::rows, 1000), {"900 rows", "2.61e-05 GB", "1e-06 GB"}, "rows");
  expect_facts(refusal(PartitionKind::metis, enough), {"900 rows", "partition: rows"}, "metis");
}

TEST(RowPlan, OfMetisIsAlwaysTheSameAndCutsLess) {
  if (!has_metis()) GTEST_SKIP() << "this build has no METIS";
  const auto matrix = shuffled_grid(20, true);
  const auto rows = plan_rows(matrix, PartitionKind::rows, 4);
  const auto metis = plan_rows(matrix, PartitionKind::metis, 4);
  EXPECT_EQ(metis.owner, plan_rows(matrix, PartitionKind::metis, 4).owner);
  EXPECT_LT(metis.cut, rows.cut / 5);
  EXPECT_LT(metis.cut, 2 * 4 * 20);
  EXPECT_LT(metis.imbalance(), 1.1);
  EXPECT_TRUE(metis_refusal(std::int64_t{1} << 40).has_value() || sizeof(void*) == 0);
  for (const std::int64_t n : {1, 2, 3}) // parts may be empty
    for (int ranks = 1; ranks <= n * n; ++ranks)
      EXPECT_EQ(plan_rows(shuffled_grid(n, true), PartitionKind::metis, ranks).first[ranks], n * n);
}

} // namespace
} // namespace kontor::cg::test

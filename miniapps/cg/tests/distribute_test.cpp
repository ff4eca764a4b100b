// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Systems of files on ranks: how they are divided and solved, on any partition with the same bits.
#include "cg/problem/distribute.hpp"
#include "grid/axis_parts.hpp"
#include "partition/metis_partition.hpp"
#include "partition/row_order.hpp"
#include "small_system.hpp"

#include <kontor/comm/collectives.hpp>

namespace kontor::cg::test {
namespace {

using namespace header;

/// Collective. All values in the order of rows, on every rank; of these one has its block.
Values all_in_order(const comm::Communicator& comm, const Partition& partition, const Vector& own) {
  const auto all = gathered(comm, partition, own);
  const auto begin = [&](int rank) { return all.begin() + grid::part_begin(partition.rows, comm.size(), rank); };
  EXPECT_EQ(in_row_order(comm, partition, own), Values(begin(comm.rank()), begin(comm.rank() + 1)));
  return all;
}

std::vector<PartitionKind> partitions() {
  if (has_metis()) return {PartitionKind::rows, PartitionKind::metis};
  return {PartitionKind::rows};
}

/// Collective. As the first rank reads it.
LinearSystem distributed(const comm::Communicator& comm, const CoordinateMatrix& matrix, PartitionKind partition) {
  WholeSystem whole;
  if (comm.rank() == 0) {
    whole.matrix = matrix;
    whole.plan = plan_rows(matrix, partition, comm.size());
    for (GlobalIndex row = 0; row < matrix.rows; ++row) whole.initial.push_back(number_of(row));
  }
  return distribute(comm, std::move(whole), RhsKind::a_times_ones);
}

TEST(Distribute, RowsAreTheSameOnWhateverRank) {
  for (const bool is_symmetric : {true, false}) {
    const auto matrix = shuffled_grid(11, is_symmetric);
    const auto n = static_cast<std::size_t>(matrix.rows);
    std::vector<double> product(n, 0), sums(n, 0);
    for_each_entry(matrix, [&](auto row, auto column, double value) {
      product[row] += value * number_of(column);
      sums[row] += value;
    });
    for (const auto partition : partitions()) {
      const auto system = distributed(world(), matrix, partition);
      const auto& part = system.partition;
      EXPECT_EQ(all_in_order(world(), part, system.rhs), sums); // the same bits
      GhostedVector x(world(), part, "x");
      Kokkos::deep_copy(x.own(), system.initial);
      x.exchange().start();
      x.exchange().finish();
      const auto y = Vector("y", part.own);
      make_csr(system.matrix, part.interior)->multiply(Space(), Part::all, x.all(), y);
      Kokkos::fence();
      EXPECT_EQ(all_in_order(world(), part, y), product);

      const auto columns = on_host(system.matrix.columns);
      const auto offsets = on_host(system.matrix.offsets);
      for (LocalIndex row = 0; row < part.own; ++row) {
        bool ghosts = false;
        for (auto e = offsets[row]; e < offsets[row + 1]; ++e) ghosts = ghosts || columns[e] >= part.own;
        EXPECT_EQ(ghosts, row >= part.interior) << row;
      }
      EXPECT_EQ(comm::allreduce(world(), static_cast<std::int64_t>(part.own), comm::ReduceOp::sum), matrix.rows);
    }
  }
}

/// Residuals and solution, in the order of the file's rows; collective over `native`.
std::vector<double> solved(MPI_Comm native, const CoordinateMatrix& matrix, PartitionKind partition,
                           const SolverOptions& options) {
  const comm::Communicator comm(native);
  Bench bench(comm, distributed(comm, matrix, partition), options);
  const auto solver = bench.solver();
  solve(*solver);
  auto all = solver->history();
  const auto x = all_in_order(comm, bench.system().partition, solver->solution());
  all.insert(all.end(), x.begin(), x.end());
  return all;
}

TEST(Distribute, SolutionsHaveTheSameBitsForAnyPartition) {
  const auto matrix = shuffled_grid(11, true);
  for (const auto& [method, preconditioner] : {std::pair(Method::classic, PreconditionerKind::jacobi),
                                               {Method::merged, PreconditionerKind::chebyshev},
                                               {Method::pipelined, PreconditionerKind::none}}) {
    const auto options = reproducible(ProblemKind::matrix_market, method, preconditioner).solver;
    const auto alone = solved(MPI_COMM_SELF, matrix, PartitionKind::rows, options);
    EXPECT_GT(alone.size(), static_cast<std::size_t>(matrix.rows) + 5);
    for (const auto partition : partitions())
      EXPECT_EQ(solved(MPI_COMM_WORLD, matrix, partition, options), alone)
          << "method " << int(method) << " partition " << int(partition);
  }
}

Options options_of(const std::string& file) {
  Options options;
  options.kind = ProblemKind::matrix_market;
  options.matrix_market.file = {file, {"deck.yaml:3:5", "problem.matrix_market.file"}};
  options.solver.tolerance = 1e-11;
  return options;
}

TEST(MatrixMarket, IsSolved) {
  const Folder folder("cg-matrix");
  const auto matrix = shuffled_grid(9, false);
  const auto file = write(folder, "m.mtx", text_of(matrix));
  std::string b = array + "81 1\n", guess = b;
  std::vector<double> rhs(81, 0);
  for_each_entry(matrix, [&](auto row, auto column, double value) { rhs[row] += value * number_of(column); });
  for (int row = 0; row < 81; ++row) {
    b += fmt::format("{}\n", rhs[row]);
    guess += fmt::format("{}\n", number_of(row) + (row == 80 ? 1 : 0));
  }
  const auto b_file = write(folder, "b.mtx", b), guess_file = write(folder, "guess.mtx", guess);

  std::int64_t iterations = 0;
  for (const bool with_guess : {false, true}) {
    auto options = options_of(file);
    options.matrix_market.rhs = RhsKind::file;
    options.matrix_market.rhs_file.path = b_file;
    if (with_guess) options.matrix_market.initial_file.path = guess_file;
    App app(options, world());
    EXPECT_TRUE(app.verified().passed());
    const auto record = app.cg.record();
    const auto& facts = record["matrix"];
    EXPECT_EQ(facts["rows"], 81);
    EXPECT_EQ(facts["nonzeros"], matrix.nonzeros());
    if (world().rank() == 0) {
      EXPECT_EQ(facts["file"], file);
      EXPECT_EQ(facts["file_symmetry"], "general");
      EXPECT_EQ(facts["cut"] == 0, world().size() == 1);
      EXPECT_LE(facts["bandwidth"], 80);
      EXPECT_GE(facts["bandwidth"], 9);
    }
    if (!with_guess) iterations = record["iterations"];
    EXPECT_TRUE(!with_guess || record["iterations"] < iterations);
  }
}

/// By powers of two, which nothing is rounded by. Squares of entries of 1e-100 to 1e-140 and 1e140 may leave the range.
TEST(MatrixMarket, IsSolvedAlikeWhateverTheSizeOfEntries) {
  if (world_size() > 1) GTEST_SKIP() << "fewer ranks tell the same";
  const Folder folder("cg-matrix");
  for (const auto method : all_methods)
    for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::jacobi})
      for (const double tolerance : {1e-10, 0.}) {
        std::vector<double> usual;
        for (const int exponent : {0, -332, -365, -465, 465}) {
          auto matrix = shuffled_grid(9, true);
          for (auto& entry : matrix.entries) entry.value = std::ldexp(entry.value, exponent);
          auto options = options_of(write(folder, "m.mtx", text_of(matrix)));
          options.solver = {
              .method = method, .preconditioner = preconditioner, .tolerance = tolerance, .max_iterations = 400};
          App app(options, world());
          const auto verified = app.verified();
          SCOPED_TRACE(fmt::format("{}, exponent {}: error {}, tolerance {}: {}", words_of(options.solver).dump(),
                                   exponent, verified.error, verified.tolerance, verified.remark));
          EXPECT_TRUE(verified.passed());
          EXPECT_LT(verified.tolerance, 1e-6);
          std::vector<double> found = app.cg.record().at("history").at("residual");
          found.push_back(verified.tolerance);
          if (exponent == 0) usual = found;
          EXPECT_TRUE(found == usual || tolerance == 0);
        }
      }
}

/// The residual is small, and the solution is not the known one: [1 -2; -2 4] along the diagonal, 8 rows; with 4.1 for
/// 4 it is.
TEST(MatrixMarket, SingularFails) {
  const Folder folder("cg-matrix");
  for (const double last : {4.0, 4.1}) {
    auto text = symmetric + "8 8 12\n";
    for (int row = 1; row < 8; row += 2)
      text += fmt::format("{0} {0} 1\n{1} {0} -2\n{1} {1} {2}\n", row, row + 1, last);
    for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
      auto options = options_of(write(folder, "m.mtx", text));
      options.solver.preconditioner = preconditioner;
      const auto result = App(options, world()).verified();
      EXPECT_EQ(result.passed(), last > 4) << result.error << " " << result.tolerance << " " << result.remark;
      if (last == 4) {
        EXPECT_GT(result.error, 0.9);
      }
    }
  }
}

TEST(MatrixMarket, RefusesOnAllRanksAlike) {
  const Folder folder("cg-matrix");
  const auto refusal = [&](const Options& options) { return error_of([&] { App(options, world()); }); };
  const std::string place = "deck.yaml:3:5: problem.matrix_market.file cannot be read: ";
  expect_facts(refusal(options_of(folder / "absent.mtx")), {place + folder / "absent.mtx", "No such file"}, "absent");
  expect_facts(refusal(options_of(folder / ".")), {place, "directory"}, "folder");
  const auto cut_off = write(folder, "cut.mtx", symmetric + "2 2 3\n1 1 1\n2 1 -1\n");
  expect_facts(refusal(options_of(cut_off)), {cut_off + ":4: ", "2 of the 3"}, "cut off");
  const auto one = write(folder, "one.mtx", symmetric + "1 1 1\n1 1 1\n");
  if (world().size() > 1)
    expect_facts(refusal(options_of(one)),
                 {"deck.yaml:3:5: problem.matrix_market.file", "1 rows", fmt::format("({})", world().size())}, "one");
  const auto some = write(folder, "m.mtx", text_of(shuffled_grid(3, true)));
  auto options = options_of(some);
  options.matrix_market.initial_file.path = one;
  expect_facts(refusal(options), {one + ":1: ", "general"}, "a matrix as guess");
}

} // namespace
} // namespace kontor::cg::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows from one rank to all: a row is the same on whatever rank it is.
#include "cg/names.hpp"
#include "cg/problem/distribute.hpp"
#include "grid/axis_parts.hpp"
#include "grid_matrix.hpp"
#include "partition/metis_partition.hpp"
#include "partition/row_order.hpp"
#include "small_system.hpp"

#include <kontor/comm/collectives.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <utility>
#include <vector>

namespace kontor::cg::test {
namespace {

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

TEST(Distribute, RowsAreTheSameOnWhateverRank) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  const bool root = comm.rank() == 0;
  for (const bool is_symmetric : {true, false}) {
    const auto matrix = shuffled_grid(11, is_symmetric);
    const auto n = static_cast<std::size_t>(matrix.rows);
    std::vector<double> product(n, 0), sums(n, 0);
    for_each_entry(matrix, [&](auto row, auto column, double value) {
      product[row] += value * number_of(column);
      sums[row] += value;
    });
    for (const auto partition : partitions())
      for (const auto ordering : {Ordering::natural, Ordering::rcm}) {
        WholeSystem whole;
        if (root) {
          whole.matrix = matrix;
          whole.plan = plan_rows(matrix, partition, ordering, comm.size());
          for (std::size_t row = 0; row < n; ++row) whole.initial.push_back(number_of(row));
        }
        const auto system = distribute(comm, std::move(whole), RhsKind::a_times_ones);
        const auto& part = system.partition;
        EXPECT_EQ(all_in_order(comm, part, system.rhs), sums); // the same bits
        GhostedVector x(comm, part, "x");
        Kokkos::deep_copy(x.own(), system.initial);
        x.exchange().start();
        x.exchange().finish();
        const auto y = Vector("y", part.own);
        make_csr(system.matrix, part.interior)->multiply(Space(), Part::all, x.all(), y);
        Kokkos::fence();
        EXPECT_EQ(all_in_order(comm, part, y), product);

        const auto columns = on_host(system.matrix.columns);
        const auto offsets = on_host(system.matrix.offsets);
        for (LocalIndex row = 0; row < part.own; ++row) {
          bool ghosts = false;
          for (auto e = offsets[row]; e < offsets[row + 1]; ++e) ghosts = ghosts || columns[e] >= part.own;
          EXPECT_EQ(ghosts, row >= part.interior) << row;
        }
        EXPECT_EQ(comm::allreduce(comm, static_cast<std::int64_t>(part.own), comm::ReduceOp::sum), matrix.rows);
      }
  }
}

/// Residuals and solution, in the order of the file's rows; collective over `native`.
std::vector<double> solved(MPI_Comm native, const CoordinateMatrix& matrix, PartitionKind partition, Ordering ordering,
                           const SolverOptions& options) {
  const comm::Communicator comm(native);
  WholeSystem whole;
  if (comm.rank() == 0) {
    whole.matrix = matrix;
    whole.plan = plan_rows(matrix, partition, ordering, comm.size());
    for (GlobalIndex row = 0; row < matrix.rows; ++row) whole.initial.push_back(number_of(row));
  }
  Bench bench(comm, distribute(comm, std::move(whole), RhsKind::a_times_ones), options);
  const auto solver = make_solver(bench.workspace());
  solver->reset();
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
    const SolverOptions options{.method = method,
                                .replace_every = 9,
                                .preconditioner = preconditioner,
                                .tolerance = 1e-9,
                                .sums = SumKind::reproducible};
    const auto alone = solved(MPI_COMM_SELF, matrix, PartitionKind::rows, Ordering::natural, options);
    EXPECT_GT(alone.size(), static_cast<std::size_t>(matrix.rows) + 5);
    for (const auto partition : partitions())
      for (const auto ordering : {Ordering::natural, Ordering::rcm}) {
        EXPECT_EQ(solved(MPI_COMM_WORLD, matrix, partition, ordering, options), alone)
            << "method " << int(method) << " partition " << int(partition) << " ordering " << int(ordering);
      }
  }
}

} // namespace
} // namespace kontor::cg::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The all-to-all in two hops delivers what alltoallv_with_counts() delivers, on any number of ranks.
#include "sizes.hpp"

namespace kontor::comm::test {
namespace {

TEST(AlltoallGrid, DeliversWhatAlltoallvDelivers) {
  with_levels_and_memories([](const Communicator& world, auto row) {
    using Row = decltype(row);
    for (int ranks = 1; ranks <= world.size(); ++ranks) { // incomplete last rows of any length
      const auto part = world.split(world.rank() < ranks ? std::optional(0) : std::nullopt);
      if (!part) continue;
      const AlltoallGrid grid(*part);
      const int me = part->rank();
      Received<Row> kept;
      for (int round = 0; round < 5; ++round) {
        const auto count = [&](int from, int to) { // nothing at all, from one rank, to one, some
          if (round == 0) return 0;
          if (round == 1) return from == ranks - 1 ? 1 + to : 0;
          if (round == 2) return to == ranks - 1 ? 1 + from : 0;
          return (3 * from + 5 * to + round) % 4;
        };
        std::vector<int> counts;
        for (int r = 0; r < ranks; ++r) counts.push_back(count(me, r));
        const auto in = sent_by<Row>(me, ranks, count);
        const auto expected = alltoallv_with_counts(*part, in, counts);
        const auto along_grid = alltoallv_with_counts(grid, in, counts);
        EXPECT_EQ(along_grid.offsets, expected.offsets);
        expect_received(along_grid, me, count);
        kept = alltoallv_with_counts(grid, in, counts, std::move(kept));
        expect_received(kept, me, count);
      }
    }
  });
}

/// Of up to 10000 ranks: as many partners as rows and columns, every rank once in its column.
TEST(AlltoallGrid, HasFewPartners) {
  const Communicator comm(MPI_COMM_WORLD);
  const AlltoallGrid grid(comm);
  EXPECT_GE(grid.full_rows(), grid.columns());
  EXPECT_LE(grid.rows(), grid.columns() + 3);
  EXPECT_LE(grid.row().size(), grid.columns() + 1);
  EXPECT_LE(grid.column().size(), grid.rows());
  EXPECT_EQ(allreduce(comm, grid.column().rank() == 0 ? grid.column().size() : 0, ReduceOp::sum), comm.size());
}

TEST(AlltoallGrid, StridedStructs) {
  const Communicator comm(MPI_COMM_WORLD);
  const AlltoallGrid grid(comm);
  struct Pair {
    double value;
    int rank;
  };
  const HostView<Pair**, Right> matrix("matrix", comm.size(), 2);
  const auto in = Kokkos::subview(matrix, Kokkos::ALL, 1);
  for (int r = 0; r < comm.size(); ++r) in(r) = {0.5 * comm.rank(), r};
  const auto received = alltoallv_with_counts(grid, in, std::vector<int>(comm.size(), 1));
  ASSERT_EQ(received.data.size(), static_cast<std::size_t>(comm.size()));
  for (int r = 0; r < comm.size(); ++r) {
    EXPECT_EQ(received.data(r).value, 0.5 * r);
    EXPECT_EQ(received.data(r).rank, comm.rank());
  }
}

TEST(AlltoallGrid, CountsThatAreWrong) {
  const Communicator comm(MPI_COMM_WORLD);
  const AlltoallGrid grid(comm);
  const Doubles in("in", 3);
  const auto size = static_cast<std::size_t>(comm.size());
  for (const auto& [counts, fact] : {std::pair(std::vector<int>(size, 4), "but View 'in' has 3 elements"),
                                     {std::vector<int>(size + 1, 0), "ranks"},
                                     {std::vector<int>(size, -3), "the count of rank 0 is -3"}})
    expect_facts(text_of<CallError>([&] { (void)alltoallv_with_counts(grid, in, counts); }), {"along a grid", fact});
  expect_usable(comm);
}

} // namespace
} // namespace kontor::comm::test

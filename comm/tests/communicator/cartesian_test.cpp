// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "comm_test.hpp"

#include <fmt/ranges.h>

namespace kontor::comm::test {
namespace {

using SubCommunicators = OnRing;
using RankAt = OnRing;
using CartesianErrors = OnRing;

/// Every way to write the number of ranks as a product of `dimensions` factors.
std::vector<std::vector<int>> grids(int ranks, int dimensions) {
  if (dimensions == 1) return {{ranks}};
  std::vector<std::vector<int>> result;
  for (int n = 1; n <= ranks; ++n) {
    if (ranks % n != 0) continue;
    for (auto rest : grids(ranks / n, dimensions - 1)) {
      rest.insert(rest.begin(), n);
      result.push_back(rest);
    }
  }
  return result;
}

class Cartesian : public testing::TestWithParam<int> {};

TEST_P(Cartesian, NeighboursAreThoseOfMpi) {
  const Communicator world(MPI_COMM_WORLD, method("view", Packing::datatype));
  for (const auto& dims : grids(world.size(), GetParam())) {
    for (int closed = 0; closed < 1 << dims.size(); ++closed) {
      std::vector<bool> periodic;
      std::vector<int> periods;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        periodic.push_back(!(closed >> d & 1));
        periods.push_back(periodic.back());
      }
      const Communicator comm(world, dims, periodic);
      MPI_Comm reference = MPI_COMM_NULL;
      MPI_Cart_create(MPI_COMM_WORLD, GetParam(), dims.data(), periods.data(), 0, &reference);
      std::vector<int> coordinates(dims.size());
      MPI_Cart_coords(reference, world.rank(), GetParam(), coordinates.data());

      EXPECT_EQ(comm.rank(), world.rank());
      EXPECT_EQ(comm.dims(), dims);
      EXPECT_EQ(comm.coordinates(), coordinates);
      EXPECT_EQ(comm.options().backend, "view");
      EXPECT_EQ(comm.options().packing, Packing::datatype);
      for (int d = 0; d < GetParam(); ++d) {
        for (const int steps : {-2, -1, 1, 2}) {
          int source = 0, destination = 0;
          MPI_Cart_shift(reference, d, steps, &source, &destination);
          EXPECT_EQ(comm.neighbour(d, steps), destination == MPI_PROC_NULL ? no_rank : destination);
          auto there = coordinates;
          there[d] += steps;
          EXPECT_EQ(comm.rank_at(there), comm.neighbour(d, steps));
        }
      }
      MPI_Comm_free(&reference);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Cartesian, testing::Values(1, 2, 3));

/// Rows and columns are those that MPI_Cart_sub makes, with options and ends of the whole.
TEST_F(SubCommunicators, RowsAndColumns) {
  const Communicator world(MPI_COMM_WORLD, method("view", Packing::datatype));
  for (const auto& dims : grids(world.size(), 2)) {
    const Communicator grid(world, dims, {true, false});
    const auto row = grid.row();
    const auto column = grid.column();
    EXPECT_EQ(row.dims(), std::vector<int>{dims[1]});
    EXPECT_EQ(column.dims(), std::vector<int>{dims[0]});
    EXPECT_EQ(row.coordinates(), std::vector<int>{grid.coordinates()[1]});
    EXPECT_EQ(column.coordinates(), std::vector<int>{grid.coordinates()[0]});
    EXPECT_EQ(row.periodic(), std::vector<bool>{false});
    EXPECT_EQ(column.periodic(), std::vector<bool>{true});
    EXPECT_EQ(row.options().packing, Packing::datatype);
    const auto sum = [&](const Communicator& comm, int value) { return allreduce(comm, value, ReduceOp::sum); };
    EXPECT_EQ(sum(row, grid.coordinates()[0]), dims[1] * grid.coordinates()[0]);
    EXPECT_EQ(sum(column, grid.coordinates()[1]), dims[0] * grid.coordinates()[1]);
    EXPECT_EQ(row.neighbour(0, 1), grid.coordinates()[1] + 1 < dims[1] ? row.rank() + 1 : no_rank);
    expect_usable(column);
  }
}

TEST_F(SubCommunicators, PlanesOfABlock) {
  for (const auto& dims : grids(ranks, 3)) {
    const Communicator grid(comm, dims, {false, true, true});
    const auto plane = grid.sub({true, false, true});
    EXPECT_EQ(plane.dims(), (std::vector<int>{dims[0], dims[2]}));
    EXPECT_EQ(plane.periodic(), (std::vector<bool>{false, true}));
    EXPECT_EQ(plane.coordinates(), (std::vector<int>{grid.coordinates()[0], grid.coordinates()[2]}));
    expect_usable(plane);
  }
  const Communicator grid(comm, {ranks, 1}, {false, false});
  EXPECT_EQ(text_of<UsageError>([&] { grid.sub({true}); }),
            "a part of a process grid keeps one dimension at least and says so for each of its 2 dimensions; 1 "
            "were given");
}

/// Across a corner: around a periodic dimension, and beyond a closed one.
TEST_F(RankAt, Corners) {
  for (const auto& dims : grids(ranks, 2)) {
    const Communicator grid(comm, dims, {true, false});
    for (int i = -2 * dims[0]; i <= 2 * dims[0]; ++i) {
      for (int j = -2; j <= dims[1] + 1; ++j) {
        const int row = ((i % dims[0]) + dims[0]) % dims[0];
        EXPECT_EQ(grid.rank_at({i, j}), j < 0 || j >= dims[1] ? no_rank : row * dims[1] + j) << i << ", " << j;
      }
    }
  }
}

TEST_F(RankAt, WantsOneCoordinateForEachDimension) {
  const Communicator grid(comm, {ranks, 1}, {true, true});
  EXPECT_EQ(text_of<CallError>([&] { grid.rank_at({1}); }),
            "rank_at(1) takes a coordinate for each dimension of the process grid, which has 2");
  EXPECT_EQ(text_of<CallError>([&] { comm.rank_at({}); }),
            "rank_at() takes a coordinate for each dimension of the process grid, which has 0");
}

TEST(BalancedDims, AreThoseOfMpi) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    std::vector<int> dims(3, 0);
    MPI_Dims_create(ranks, 3, dims.data());
    EXPECT_EQ(balanced_dims(ranks, {0, 0, 0}), dims);
  }
  EXPECT_EQ(balanced_dims(12, {0, 3}), (std::vector<int>{4, 3}));
}

TEST(BalancedDims, Errors) {
  const auto expect_refused = [](int ranks, const std::vector<int>& dims) {
    EXPECT_EQ(text_of<UsageError>([&] { balanced_dims(ranks, dims); }),
              fmt::format("{} ranks cannot be arranged as {} (0: any number)", ranks, fmt::join(dims, " x ")));
  };
  expect_refused(12, {0, 5});
  expect_refused(12, {3, 3});
  expect_refused(4, {-2, -2});
  expect_refused(4, {-1, 0, -4});
  expect_refused(0, {0});
  expect_refused(4, {1 << 30, 1 << 30, 1 << 30});
}

/// The last rank asks for something else, which may be a grid or not: an error of all ranks, which goes on to be
/// usable.
TEST_F(CartesianErrors, RanksThatDiffer) {
  if (ranks == 1) GTEST_SKIP() << "one rank does not differ";

  const auto refused = [&](const std::vector<int>& dims, const std::vector<bool>& periodic) {
    const auto text = text_of<UsageError>([&] {
      if (is_last)
        Communicator(comm, dims, periodic);
      else
        Communicator(comm, {ranks, 1}, {true, false});
    });
    expect_facts(text, {"rank 0 ", fmt::format("{} x 1", ranks), fmt::format("rank {} ", last)});
  };
  refused({1, ranks}, {true, false});
  refused({ranks, 1}, {true, true});
  refused({ranks}, {true});
  refused({ranks, 7}, {true, false});
  refused({ranks, 1}, {true});
  refused({}, {});
  const Communicator grid(comm, {ranks, 1}, {true, false});
  const auto part = text_of<UsageError>([&] { grid.sub({!is_last, is_last}); });
  expect_facts(part, {fmt::format("rank {} ", last)});
  expect_usable(grid);
}

TEST_F(CartesianErrors, DimsAndEnds) {
  const auto refused = [&](const std::vector<int>& dims, const std::vector<bool>& periodic) {
    return text_of<UsageError>([&] { Communicator(comm, dims, periodic); });
  };
  EXPECT_EQ(refused({ranks, 7}, {true, false}),
            fmt::format("a process grid of {} x 7 takes {} ranks, but there are {}", ranks, 7 * ranks, ranks));
  EXPECT_EQ(refused({-ranks, -1}, {true, false}),
            fmt::format("a process grid of -{0} x -1 takes {0} ranks, but there are {0}", ranks));
  const std::string rule = "a process grid has 1 to 3 dimensions, each closed or periodic; ";
  EXPECT_EQ(refused({ranks, 1, 1, 1}, {true, true, true, true}), rule + "4 dimensions and 4 ends were given");
  EXPECT_EQ(refused({ranks, 1}, {true}), rule + "2 dimensions and 1 ends were given");
  EXPECT_EQ(refused({}, {}), rule + "0 dimensions and 0 ends were given");
  expect_usable(comm);
}

TEST_F(CartesianErrors, Neighbour) {
  EXPECT_EQ(text_of<CallError>([&] { comm.neighbour(0, 1); }),
            "neighbour along dimension 0: this communicator is no process grid; one is made by "
            "Communicator(comm, dims, periodic)");
  const Communicator line(comm, {ranks}, {true});
  for (const int dim : {-1, 1, 5})
    EXPECT_EQ(text_of<CallError>([&] { line.neighbour(dim, 1); }),
              fmt::format("neighbour along dimension {}: this process grid has dimensions 0 to 0", dim));
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "error_text.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>
#include <kontor/comm/communicator/internals.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

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
TEST(SubCommunicators, RowsAndColumns) {
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
    const auto sum = [&](const Communicator& comm, int value) {
      return allreduce(comm, value, ReduceOp::sum);
    };
    EXPECT_EQ(sum(row, grid.coordinates()[0]), dims[1] * grid.coordinates()[0]);
    EXPECT_EQ(sum(column, grid.coordinates()[1]), dims[0] * grid.coordinates()[1]);
    EXPECT_EQ(row.neighbour(0, 1), grid.coordinates()[1] + 1 < dims[1] ? row.rank() + 1 : no_rank);
    expect_usable(column);
  }
}

TEST(SubCommunicators, PlanesOfABlock) {
  const Communicator world(MPI_COMM_WORLD);
  for (const auto& dims : grids(world.size(), 3)) {
    const Communicator grid(world, dims, {false, true, true});
    const auto plane = grid.sub({true, false, true});
    EXPECT_EQ(plane.dims(), (std::vector<int>{dims[0], dims[2]}));
    EXPECT_EQ(plane.periodic(), (std::vector<bool>{false, true}));
    EXPECT_EQ(plane.coordinates(), (std::vector<int>{grid.coordinates()[0], grid.coordinates()[2]}));
    expect_usable(plane);
  }
  const Communicator grid(world, {world.size(), 1}, {false, false});
  EXPECT_EQ(
      text_of<UsageError>([&] { grid.sub({true}); }),
      "a part of a process grid keeps one dimension at least and says so for each of its 2 dimensions; 1 "
      "were given");
}

TEST(SubCommunicators, Split) {
  const Communicator world(MPI_COMM_WORLD);
  const int colour = world.rank() % 2;
  const auto half = world.split(colour, -world.rank()); // in reverse
  EXPECT_EQ(half.size(), (world.size() + 1 - colour) / 2);
  EXPECT_EQ(half.rank(), half.size() - 1 - world.rank() / 2);
  expect_usable(half);
}

/// Odd ranks are in none of the parts.
TEST(SubCommunicators, SplitWithoutColour) {
  const Communicator world(MPI_COMM_WORLD);
  const bool in = world.rank() % 2 == 0;
  const auto part = world.split(in ? std::optional(3) : std::nullopt);
  EXPECT_EQ(part.has_value(), in);
  if (part) {
    EXPECT_EQ(part->size(), (world.size() + 1) / 2);
    EXPECT_EQ(part->rank(), world.rank() / 2);
    expect_usable(*part);
  }
  expect_usable(world);
}

TEST(SubCommunicators, SplitByANegativeColour) {
  const Communicator world(MPI_COMM_WORLD);
  const int last = world.size() - 1;
  EXPECT_EQ(text_of<AgreedError>([&] { world.split(world.rank() == last ? -7 : 0); }),
            fmt::format(
                "rank {} gives the colour -7; colours are 0 or more, and std::nullopt says that a rank is to "
                "be in none of the parts",
                last));
  expect_usable(world);
}

/// Across a corner: around a periodic dimension, and beyond a closed one.
TEST(RankAt, Corners) {
  const Communicator world(MPI_COMM_WORLD);
  for (const auto& dims : grids(world.size(), 2)) {
    const Communicator grid(world, dims, {true, false});
    for (int i = -2 * dims[0]; i <= 2 * dims[0]; ++i) {
      for (int j = -2; j <= dims[1] + 1; ++j) {
        const int row = ((i % dims[0]) + dims[0]) % dims[0];
        EXPECT_EQ(grid.rank_at({i, j}), j < 0 || j >= dims[1] ? no_rank : row * dims[1] + j)
            << i << ", " << j;
      }
    }
  }
}

TEST(RankAt, WantsOneCoordinateForEachDimension) {
  const Communicator world(MPI_COMM_WORLD);
  const Communicator grid(world, {world.size(), 1}, {true, true});
  EXPECT_EQ(text_of<CallError>([&] { grid.rank_at({1}); }),
            "rank_at(1) takes a coordinate for each dimension of the process grid, which has 2");
  EXPECT_EQ(text_of<CallError>([&] { world.rank_at({}); }),
            "rank_at() takes a coordinate for each dimension of the process grid, which has 0");
}

TEST(BalancedDims, AreThoseOfMpi) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    std::vector<int> dims(3, 0);
    MPI_Dims_create(ranks, 3, dims.data());
    EXPECT_EQ(balanced_dims(ranks, {0, 0, 0}), dims);
  }
  EXPECT_EQ(balanced_dims(12, {0, 3}), (std::vector<int>{4, 3}));
  EXPECT_EQ(text_of<UsageError>([] {
              balanced_dims(12, {0, 5});
            }),
            "12 ranks cannot be arranged as 0 x 5 (0: any number)");
  EXPECT_EQ(text_of<UsageError>([] {
              balanced_dims(12, {3, 3});
            }),
            "12 ranks cannot be arranged as 3 x 3 (0: any number)");
}

TEST(BalancedDims, RefusesNegativeOnes) {
  const auto refused = [](int ranks, const std::vector<int>& dims) {
    return text_of<UsageError>([&] { balanced_dims(ranks, dims); });
  };
  EXPECT_EQ(refused(4, {-2, -2}), "4 ranks cannot be arranged as -2 x -2 (0: any number)");
  EXPECT_EQ(refused(4, {-1, 0, -4}), "4 ranks cannot be arranged as -1 x 0 x -4 (0: any number)");
  EXPECT_EQ(refused(0, {0}), "0 ranks cannot be arranged as 0 (0: any number)");
  EXPECT_EQ(refused(4, {1 << 30, 1 << 30, 1 << 30}),
            "4 ranks cannot be arranged as 1073741824 x 1073741824 x 1073741824 (0: any number)");
}

/// The last rank asks for something else, which may be a grid or not: an error of all ranks, which goes on to
/// be usable.
TEST(CartesianErrors, RanksThatDiffer) {
  const Communicator world(MPI_COMM_WORLD);
  const int n = world.size();
  if (n == 1) GTEST_SKIP() << "one rank does not differ";
  const bool last = world.rank() == n - 1;
  using Dims = std::vector<int>;
  using Periodic = std::vector<bool>;
  const auto refused = [&](const Dims& dims, const Periodic& periodic) {
    const auto text = text_of<UsageError>([&] {
      if (last)
        Communicator(world, dims, periodic);
      else
        Communicator(world, {n, 1}, {true, false});
    });
    EXPECT_NE(text.find("rank 0 "), std::string::npos) << text;
    EXPECT_NE(text.find(fmt::format("{} x 1", n)), std::string::npos) << text;
    EXPECT_NE(text.find(fmt::format("rank {} ", n - 1)), std::string::npos) << text;
  };
  refused({1, n}, {true, false});
  refused({n, 1}, {true, true});
  refused({n}, {true});
  refused({n, 7}, {true, false});
  refused({n, 1}, {true});
  refused({}, {});
  const Communicator grid(world, {n, 1}, {true, false});
  EXPECT_NE(text_of<UsageError>([&] {
              grid.sub({!last, last});
            }).find(fmt::format("rank {} ", n - 1)),
            std::string::npos);
  expect_usable(grid);
}

TEST(CartesianErrors, ProductOfDims) {
  const Communicator world(MPI_COMM_WORLD);
  const int n = world.size();
  EXPECT_EQ(text_of<UsageError>([&] {
              Communicator(world, {n, 7}, {true, false});
            }),
            fmt::format("a process grid of {} x 7 takes {} ranks, but there are {}", n, 7 * n, n));
  EXPECT_EQ(text_of<UsageError>([&] {
              Communicator(world, {-n, -1}, {true, false});
            }),
            fmt::format("a process grid of -{} x -1 takes {} ranks, but there are {}", n, n, n));
  expect_usable(world);
}

TEST(CartesianErrors, Dimensions) {
  const Communicator world(MPI_COMM_WORLD);
  const int n = world.size();
  EXPECT_EQ(
      text_of<UsageError>([&] {
        Communicator(world, {n, 1, 1, 1}, {true, true, true, true});
      }),
      "a process grid has 1 to 3 dimensions, each closed or periodic; 4 dimensions and 4 ends were given");
  EXPECT_EQ(
      text_of<UsageError>([&] {
        Communicator(world, {n, 1}, {true});
      }),
      "a process grid has 1 to 3 dimensions, each closed or periodic; 2 dimensions and 1 ends were given");
  EXPECT_EQ(
      text_of<UsageError>([&] { Communicator(world, {}, {}); }),
      "a process grid has 1 to 3 dimensions, each closed or periodic; 0 dimensions and 0 ends were given");
  expect_usable(world);
}

TEST(CartesianErrors, NeighbourWithoutGrid) {
  const Communicator world(MPI_COMM_WORLD);
  EXPECT_EQ(text_of<CallError>([&] { world.neighbour(0, 1); }),
            "neighbour along dimension 0: this communicator is no process grid; one is made by "
            "Communicator(comm, dims, periodic)");
}

TEST(CartesianErrors, NeighbourAlongNoDimension) {
  const Communicator world(MPI_COMM_WORLD);
  const Communicator line(world, {world.size()}, {true});
  for (const int dim : {-1, 1, 5})
    EXPECT_EQ(text_of<CallError>([&] { line.neighbour(dim, 1); }),
              fmt::format("neighbour along dimension {}: this process grid has dimensions 0 to 0", dim));
}

TEST(CommunicatorHandle, SharesAndMoves) {
  Communicator comm(MPI_COMM_WORLD);
  int same = MPI_UNEQUAL;
  MPI_Comm_compare(comm.native(), MPI_COMM_WORLD, &same);
  EXPECT_EQ(same, MPI_CONGRUENT) << "Kontor's messages must not meet the caller's";
  const auto other = comm.share();
  EXPECT_EQ(other.native(), comm.native());
  const int first = detail::internals(comm).reserve_tags(3);
  EXPECT_EQ(detail::internals(other).reserve_tags(1), first + 3);
  comm = Communicator(comm, {comm.size()}, {true});
  expect_usable(comm);
  expect_usable(other);
}

/// What was moved from is refused in words, whatever is asked of it.
TEST(CommunicatorHandle, MovedFrom) {
  Communicator comm(MPI_COMM_WORLD);
  Exchange<Kokkos::View<int*, Kokkos::HostSpace>> exchange(comm, "moved");
  exchange.commit();
  const auto taken_exchange = std::move(exchange);
  const auto taken = std::move(comm);
  EXPECT_FALSE(comm);
  EXPECT_TRUE(taken);
  const Kokkos::View<int*, Kokkos::HostSpace> view("view", 3);
  const auto refused = [](const auto& call) {
    EXPECT_EQ(text_of<CallError>(call), "a Communicator is used that was moved from");
  };
  refused([&] { comm.rank(); });
  refused([&] { comm.share(); });
  refused([&] { comm.split(0); });
  refused([&] { comm.neighbour(0, 1); });
  refused([&] { comm.agree(std::nullopt); });
  refused([&] { send(comm, view, 0); });
  refused([&] { isend(comm, view, 0).wait(); });
  refused([&] { allreduce(comm, 1, ReduceOp::sum); });
  refused([&] { iallreduce(comm, view, ReduceOp::sum).wait(); });
  refused([&] { Communicator(comm, {1}, {false}); });
  refused([&] { Exchange<Kokkos::View<int*, Kokkos::HostSpace>>(comm, "of none"); });
  for (const auto& text :
       {text_of<CallError>([&] { exchange.commit(); }), text_of<CallError>([&] { exchange.start(); })})
    EXPECT_NE(text.find("Exchange that was moved from"), std::string::npos) << text;
}

TEST(CommunicatorHandle, Agrees) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto agree = [&](bool problem) {
    return text_of<AgreedError>([&] {
      comm.agree(problem ? std::optional(fmt::format("rank {} says no", comm.rank())) : std::nullopt);
    });
  };
  const int last = comm.size() - 1;
  EXPECT_EQ(agree(false), "no error");
  EXPECT_EQ(agree(comm.rank() == last), fmt::format("rank {} says no", last));
  EXPECT_EQ(agree(true), "rank 0 says no");
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Communicators as handles: shared, moved, split; agreement of ranks; options; process grids.
#include "comm_test.hpp"
#include "communicator/internals.hpp"

#include <fmt/ranges.h>

#include <cmath>

namespace kontor::comm::test {
namespace {

using Split = OnRing;

TEST_F(Split, ByColour) {
  const int colour = rank % 2;
  const auto half = comm.split(colour, -rank); // in reverse
  EXPECT_EQ(half.size(), (ranks + 1 - colour) / 2);
  EXPECT_EQ(half.rank(), half.size() - 1 - rank / 2);
  expect_usable(half);
  const bool in = rank % 2 == 0; // odd ranks are in none of the parts
  const auto part = comm.split(in ? std::optional(3) : std::nullopt);
  EXPECT_EQ(part.has_value(), in);
  if (part) {
    EXPECT_EQ(part->size(), (ranks + 1) / 2);
    EXPECT_EQ(part->rank(), rank / 2);
    expect_usable(*part);
  }
  EXPECT_EQ(text_of<AgreedError>([&] { comm.split(is_last ? -7 : 0); }),
            fmt::format("rank {} gives the colour -7; colours are 0 or more, and std::nullopt says that a rank is to "
                        "be in none of the parts",
                        last));
  expect_usable(comm);
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

TEST(CommunicatorHandle, MovedFrom) {
  Communicator comm(MPI_COMM_WORLD);
  Exchange<Ints> exchange(comm, "moved");
  exchange.commit();
  const auto taken_exchange = std::move(exchange);
  const auto taken = std::move(comm);
  EXPECT_FALSE(comm);
  EXPECT_TRUE(taken);
  const Ints view("view", 3);
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
  refused([&] { Exchange<Ints>(comm, "of none"); });
  for (const auto& text :
       {text_of<CallError>([&] { exchange.commit(); }), text_of<CallError>([&] { exchange.start(); })})
    expect_facts(text, {"Exchange that was moved from"});
}

TEST(CommunicatorHandle, AdoptsOneWithoutDuplication) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &made);
  {
    const auto comm = Communicator::adopt(made, {.backend = "view"});
    EXPECT_EQ(comm.native(), made);
    EXPECT_EQ(comm.options().backend, "view");
    expect_usable(comm);
  }
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
  expect_error<UsageError>([&] { Communicator::adopt(made, {.backend = "carrier pigeons"}); }, {"carrier pigeons"});
  MPI_Comm_free(&made); // still the caller's
  expect_error<CallError>([&] { Communicator::adopt(MPI_COMM_NULL); }, {"MPI_COMM_NULL"});
}

TEST(OptionsInWords, AreReadAndRefused) {
  const auto options = options_of(" backend=view,pattern=rma  packing=none path=staged check=off trial=0 timeout=2.5 ");
  EXPECT_EQ(to_string(options), "view, rma, packing none, path staged");
  EXPECT_EQ(options.check, CheckLevel::off);
  EXPECT_EQ((std::pair{options.trial, options.timeout}), (std::pair{0.0, 2.5}));
  EXPECT_EQ(options_of("", {.backend = "shm"}).backend, "shm");
  expect_error<UsageError>([] { options_of("pattern=sideways"); },
                           {"pattern is 'sideways'", "nonblocking, persistent"});
  expect_error<UsageError>([] { options_of("colour=red"); }, {"no option 'colour=red'", "backend, pattern"});
  for (const char* word : {"timeout=-1", "timeout=soon", "timeout=", "timeout", "trial=1s", "timeout=nan"})
    expect_error<UsageError>([&] { options_of(word); }, {"seconds, 0 or more"});
  ::setenv("KONTOR_COMM", "check=cross_rank", 1);
  EXPECT_EQ(options_of_environment({.backend = "view"}).check, CheckLevel::cross_rank);
  ::unsetenv("KONTOR_COMM");
  EXPECT_EQ(options_of_environment({.backend = "view"}).backend, "view");
}

/// The environment of some ranks only.
TEST(CommunicatorHandle, IsGpuAwareOnAllRanks) {
  const char* const name = "KONTOR_GPU_AWARE_MPI";
  const bool last = world_rank() == world_size() - 1;
  if (std::getenv(name) || world_size() == 1) GTEST_SKIP() << "it is set for all";
  if (last) setenv(name, "1", 1);
  expect_error<UsageError>(
      [] { Communicator(MPI_COMM_WORLD); },
      {"GPU-aware MPI: ", fmt::format("but rank {} gives", world_size() - 1), fmt::format("yes, by {}", name)});
  if (last) unsetenv(name);
}

TEST(CommunicatorHandle, Agrees) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto agree = [&](bool problem) {
    return text_of<AgreedError>(
        [&] { comm.agree(problem ? std::optional(fmt::format("rank {} says no", comm.rank())) : std::nullopt); });
  };
  const int last = comm.size() - 1;
  EXPECT_EQ(agree(false), "no error");
  EXPECT_EQ(agree(comm.rank() == last), fmt::format("rank {} says no", last));
  EXPECT_EQ(agree(true), "rank 0 says no");
}

/// Decks, messages and the record take the names from one list.
template <class E, std::size_t n>
void expect_names(const std::array<NamedValue<E>, n>& names, std::size_t values) {
  EXPECT_EQ(n, values);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(names[i].value), i) << names[i].name;
    EXPECT_STREQ(to_string(names[i].value), names[i].name);
  }
  EXPECT_STREQ(to_string(static_cast<E>(n)), "?");
}

TEST(Options, EveryValueHasItsName) {
  expect_names(pattern_names, static_cast<std::size_t>(Pattern::automatic) + 1);
  expect_names(packing_names, static_cast<std::size_t>(Packing::none) + 1);
  expect_names(path_names, static_cast<std::size_t>(Path::automatic) + 1);
  expect_names(check_names, static_cast<std::size_t>(CheckLevel::cross_rank) + 1);
}

TEST(Options, AreEqualOnAllRanks) {
  const int rank = world_rank(), size = world_size();
  if (size == 1) GTEST_SKIP() << "one rank has one choice";
  const int last = size - 1;
  const auto expect = [&](const Options& of_last, const char* theirs) {
    const auto options = rank == last ? of_last : Options();
    expect_error<UsageError>(
        [&] { Communicator(MPI_COMM_WORLD, options); },
        {"the options of a communicator must be equal on all ranks: rank 0 gives raw, nonblocking, "
         "packing auto, check local, trial 0.2,",
         fmt::format("but rank {} gives {}", last, theirs)});
  };
  expect({.backend = "view"}, "view, nonblocking");
  expect({.backend = automatic_backend}, "auto, nonblocking");
  expect({.pattern = Pattern::neighborhood}, "raw, neighborhood");
  expect({.packing = Packing::none}, "raw, nonblocking, packing none");
  expect({.path = Path::staged}, "raw, nonblocking, packing auto, path staged");
  expect({.check = CheckLevel::cross_rank}, "raw, nonblocking, packing auto, check cross_rank");
  expect({.trial = 1}, "raw, nonblocking, packing auto, check local, trial 1,");
}

TEST(Options, HaveValuesThatThereAre) {
  const auto expect = [](const Options& options, const std::string& problem) {
    expect_error<UsageError>([&] { Communicator(MPI_COMM_WORLD, options); }, {problem});
  };
  expect({.path = static_cast<Path>(77)}, "path has no such value");
  expect({.timeout = -1}, "timeout is -1");
  expect({.trial = std::nan("")}, "trial is nan");
  expect_error<CallError>([] { Communicator comm(MPI_COMM_NULL); }, {"MPI_COMM_NULL"});
}

using SubCommunicators = OnRing;
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

/// Rows and columns are those that MPI_Cart_sub makes, with options and ends of the whole.
TEST_F(SubCommunicators, RowsColumnsAndPlanes) {
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

TEST(BalancedDims, AreThoseOfMpi) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    std::vector<int> dims(3, 0);
    MPI_Dims_create(ranks, 3, dims.data());
    EXPECT_EQ(balanced_dims(ranks, {0, 0, 0}), dims);
  }
  EXPECT_EQ(balanced_dims(12, {0, 3}), (std::vector<int>{4, 3}));
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

/// The last rank asks for something else, a grid or not: an error of all ranks, which goes on to be usable.
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
  EXPECT_EQ(text_of<CallError>([&] { comm.neighbour(0, 1); }),
            "neighbour along dimension 0: this communicator is no process grid; one is made by "
            "Communicator(comm, dims, periodic)");
  const Communicator line(comm, {ranks}, {true});
  for (const int dim : {-1, 1, 5})
    EXPECT_EQ(text_of<CallError>([&] { line.neighbour(dim, 1); }),
              fmt::format("neighbour along dimension {}: this process grid has dimensions 0 to 0", dim));
  expect_usable(comm);
  // Ranks across corners meet in Graph.CornersOfABlock.
  const Communicator grid(comm, {ranks, 1}, {true, true});
  EXPECT_EQ(text_of<CallError>([&] { grid.rank_at({1}); }),
            "rank_at(1) takes a coordinate for each dimension of the process grid, which has 2");
  EXPECT_EQ(text_of<CallError>([&] { comm.rank_at({}); }),
            "rank_at() takes a coordinate for each dimension of the process grid, which has 0");
}

} // namespace
} // namespace kontor::comm::test

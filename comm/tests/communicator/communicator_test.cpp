// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Communicators as handles: shared, moved, split; agreement of ranks; options; process grids.
#include "comm_test.hpp"
#include "communicator/internals.hpp"

#include <fmt/ranges.h>

#include <cmath>

namespace kontor::comm::test {
namespace {

using Communicators = OnRing;

TEST_F(Communicators, SplitByColour) {
  const int colour = rank % 2;
  const auto half = comm.split(colour, -rank); // in reverse
  EXPECT_EQ(half.size(), (ranks + 1 - colour) / 2);
  EXPECT_EQ(half.rank(), half.size() - 1 - rank / 2);
  expect_usable(half);
  const bool in = rank % 2 == 0; // odd ranks are in none of the parts
  const auto part = comm.split(in ? std::optional(3) : std::nullopt);
  EXPECT_EQ(part.has_value(), in);
  if (part) {
    EXPECT_EQ(std::pair(part->size(), part->rank()), std::pair((ranks + 1) / 2, rank / 2));
    expect_usable(*part);
  }
  expect_error<AgreedError>([&] { comm.split(is_last ? -7 : 0); },
                            {fmt::format("rank {} gives the colour -7; colours are 0 or more", last), "std::nullopt"});
  expect_usable(comm);
}

TEST_F(Communicators, ShareAndMove) {
  int same = MPI_UNEQUAL;
  MPI_Comm_compare(comm.native(), MPI_COMM_WORLD, &same);
  EXPECT_EQ(same, MPI_CONGRUENT) << "Kontor's messages must not meet the caller's";
  const auto other = comm.share();
  EXPECT_EQ(other.native(), comm.native());
  const int first = detail::internals(comm).reserve_tags(3);
  EXPECT_EQ(detail::internals(other).reserve_tags(1), first + 3);
  comm = Communicator(comm, {ranks}, {true});
  expect_usable(comm);
  expect_usable(other);
}

TEST_F(Communicators, MovedFrom) {
  Exchange<Ints> exchange(comm, "moved");
  exchange.commit();
  const auto taken_exchange = std::move(exchange);
  const auto taken = std::move(comm);
  EXPECT_FALSE(comm);
  EXPECT_TRUE(taken);
  const Ints view("view", 3);
  const std::function<void()> calls[] = {[&] { comm.rank(); },
                                         [&] { comm.share(); },
                                         [&] { comm.split(0); },
                                         [&] { comm.neighbour(0, 1); },
                                         [&] { comm.agree(std::nullopt); },
                                         [&] { send(comm, view, 0); },
                                         [&] { isend(comm, view, 0).wait(); },
                                         [&] { allreduce(comm, 1, ReduceOp::sum); },
                                         [&] { iallreduce(comm, view, ReduceOp::sum).wait(); },
                                         [&] { Communicator(comm, {1}, {false}); },
                                         [&] { Exchange<Ints>(comm, "of none"); }};
  for (const auto& call : calls) expect_error<CallError>(call, {"a Communicator is used that was moved from"});
  expect_error<CallError>([&] { exchange.commit(); }, {"Exchange that was moved from"}); // NOLINT
  expect_error<CallError>([&] { exchange.start(); }, {"Exchange that was moved from"});
}

TEST(AdoptedCommunicator, IsTheCallersOwn) {
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

TEST_F(Communicators, Agree) {
  const auto agree = [&](bool problem) {
    return text_of<AgreedError>(
        [&] { comm.agree(problem ? std::optional(fmt::format("rank {} says no", rank)) : std::nullopt); });
  };
  EXPECT_EQ(agree(false), "no error");
  EXPECT_EQ(agree(is_last), fmt::format("rank {} says no", last));
  EXPECT_EQ(agree(true), "rank 0 says no");
}

/// Decks, messages and the record take the names from one list.
template <class E, std::size_t n>
void expect_names(const std::array<NamedValue<E>, n>& names, E last) {
  EXPECT_EQ(n, static_cast<std::size_t>(last) + 1);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(names[i].value), i) << names[i].name;
    EXPECT_STREQ(to_string(names[i].value), names[i].name);
  }
  EXPECT_STREQ(to_string(static_cast<E>(n)), "?");
}

TEST(Options, AreReadAndNamed) {
  expect_names(pattern_names, Pattern::automatic);
  expect_names(packing_names, Packing::none);
  expect_names(path_names, Path::automatic);
  expect_names(check_names, CheckLevel::cross_rank);
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

/// Values that there are, equal on all ranks, as is what the environment says of MPI.
TEST_F(Communicators, RefuseOptions) {
  const auto expect = [&](const Options& of_last, const std::string& fact, const std::string& other = {}) {
    expect_error<UsageError>([&] { Communicator(MPI_COMM_WORLD, is_last ? of_last : Options()); }, {fact, other});
  };
  expect({.path = static_cast<Path>(77)}, "path has no such value");
  expect({.timeout = -1}, "timeout is -1");
  expect({.trial = std::nan("")}, "trial is nan");
  expect_error<CallError>([] { Communicator(MPI_COMM_NULL, {}); }, {"MPI_COMM_NULL"});
  if (ranks == 1) return;
  const auto expect_differ = [&](const Options& of_last, const char* theirs) {
    expect(of_last, "must be equal on all ranks: rank 0 gives raw, nonblocking, packing auto, check local, trial 0.2,",
           fmt::format("but rank {} gives {}", last, theirs));
  };
  expect_differ({.backend = "view"}, "view, nonblocking");
  expect_differ({.backend = automatic_backend}, "auto, nonblocking");
  expect_differ({.pattern = Pattern::neighborhood}, "raw, neighborhood");
  expect_differ({.packing = Packing::none}, "raw, nonblocking, packing none");
  expect_differ({.path = Path::staged}, "raw, nonblocking, packing auto, path staged");
  expect_differ({.check = CheckLevel::cross_rank}, "raw, nonblocking, packing auto, check cross_rank");
  expect_differ({.trial = 1}, "raw, nonblocking, packing auto, check local, trial 1,");
  const char* const name = "KONTOR_GPU_AWARE_MPI";
  if (std::getenv(name)) return;
  if (is_last) setenv(name, "1", 1);
  expect({}, fmt::format("but rank {} gives", last), fmt::format("GPU-aware MPI: yes, by {}", name));
  if (is_last) unsetenv(name);
}

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

/// Parts are those that MPI_Cart_sub makes, with options and ends of the whole.
TEST_F(Communicators, PartsOfGrids) {
  const Communicator world(MPI_COMM_WORLD, method("view", Packing::datatype));
  const auto expect = [&](const Communicator& part, const Communicator& grid, const std::vector<bool>& keeps) {
    std::vector<int> dims, coordinates;
    std::vector<bool> periodic;
    int rank = 0, others = 0; // in the part, and the number of this part
    for (std::size_t d = 0; d < keeps.size(); ++d) {
      auto& number = keeps[d] ? rank : others;
      number = number * grid.dims()[d] + grid.coordinates()[d];
      if (!keeps[d]) continue;
      dims.push_back(grid.dims()[d]);
      coordinates.push_back(grid.coordinates()[d]);
      periodic.push_back(grid.periodic()[d]);
    }
    EXPECT_EQ(part.dims(), dims);
    EXPECT_EQ(part.coordinates(), coordinates);
    EXPECT_EQ(part.periodic(), periodic);
    EXPECT_EQ(part.rank(), rank);
    EXPECT_EQ(part.options().packing, Packing::datatype);
    EXPECT_EQ(allreduce(part, others, ReduceOp::sum), part.size() * others);
    expect_usable(part);
  };
  for (const auto& dims : grids(ranks, 2)) {
    const Communicator grid(world, dims, {true, false});
    const int x = grid.coordinates()[0], y = grid.coordinates()[1];
    for (const int dx : {-1, 0, 1})
      for (const int dy : {-1, 0, 1}) { // across corners, too
        const bool inside = y + dy >= 0 && y + dy < dims[1];
        const int other = (x + dx + dims[0]) % dims[0] * dims[1] + y + dy;
        EXPECT_EQ(grid.rank_at({x + dx, y + dy}), inside ? other : no_rank);
      }
    const auto row = grid.row();
    expect(row, grid, {false, true});
    expect(grid.column(), grid, {true, false});
    EXPECT_EQ(row.neighbour(0, 1), row.rank() + 1 < dims[1] ? row.rank() + 1 : no_rank);
  }
  for (const auto& dims : grids(ranks, 3)) {
    const Communicator grid(world, dims, {false, true, true});
    expect(grid.sub({true, false, true}), grid, {true, false, true});
  }
  const Communicator grid(comm, {ranks, 1}, {false, false});
  expect_error<UsageError>([&] { grid.sub({true}); },
                           {"keeps one dimension at least", "each of its 2 dimensions; 1 were given"});
}

TEST(BalancedDims, AreThoseOfMpi) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    std::vector<int> dims(3, 0);
    MPI_Dims_create(ranks, 3, dims.data());
    EXPECT_EQ(balanced_dims(ranks, {0, 0, 0}), dims);
  }
  EXPECT_EQ(balanced_dims(12, {0, 3}), (std::vector<int>{4, 3}));
  const std::pair<int, std::vector<int>> impossible[] = {
      {12, {0, 5}}, {12, {3, 3}}, {4, {-2, -2}}, {4, {-1, 0, -4}}, {0, {0}}, {4, {1 << 30, 1 << 30, 1 << 30}}};
  for (const auto& [ranks, dims] : impossible)
    EXPECT_EQ(text_of<UsageError>([&, n = ranks, wanted = dims] { balanced_dims(n, wanted); }),
              fmt::format("{} ranks cannot be arranged as {} (0: any number)", ranks, fmt::join(dims, " x ")));
}

/// The last rank asks for something else, a grid or not: an error of all ranks, which goes on to be usable.
TEST_F(Communicators, GridsOfRanksThatDiffer) {
  if (ranks == 1) GTEST_SKIP() << "one rank does not differ";
  const std::pair<std::vector<int>, std::vector<bool>> others[] = {
      {{1, ranks}, {true, false}}, {{ranks, 1}, {true, true}}, {{ranks}, {true}},
      {{ranks, 7}, {true, false}}, {{ranks, 1}, {true}},       {{}, {}}};
  for (const auto& other : others)
    expect_error<UsageError>(
        [&] {
          if (is_last)
            Communicator(comm, other.first, other.second);
          else
            Communicator(comm, {ranks, 1}, {true, false});
        },
        {"rank 0 ", fmt::format("{} x 1", ranks), fmt::format("rank {} ", last)});
  const Communicator grid(comm, {ranks, 1}, {true, false});
  expect_error<UsageError>([&] { grid.sub({!is_last, is_last}); }, {fmt::format("rank {} ", last)});
  expect_usable(grid);
}

TEST_F(Communicators, GridsThatCannotBe) {
  const auto refused = [&](const std::vector<int>& dims, const std::vector<bool>& periodic, const std::string& fact) {
    expect_error<UsageError>([&] { Communicator(comm, dims, periodic); }, {"a process grid ", fact});
  };
  refused({ranks, 7}, {true, false},
          fmt::format("of {} x 7 takes {} ranks, but there are {}", ranks, 7 * ranks, ranks));
  refused({-ranks, -1}, {true, false}, fmt::format("of -{0} x -1 takes {0} ranks, but there are {0}", ranks));
  const std::string rule = "has 1 to 3 dimensions, each closed or periodic; ";
  refused({ranks, 1, 1, 1}, {true, true, true, true}, rule + "4 dimensions and 4 ends were given");
  refused({ranks, 1}, {true}, rule + "2 dimensions and 1 ends were given");
  refused({}, {}, rule + "0 dimensions and 0 ends were given");
  const auto no_neighbour = [](const Communicator& grid, int dimension, const std::string& fact) {
    expect_error<CallError>([&] { grid.neighbour(dimension, 1); },
                            {fmt::format("neighbour along dimension {}: this ", dimension), fact});
  };
  no_neighbour(comm, 0, "communicator is no process grid");
  for (const int dimension : {-1, 1, 5})
    no_neighbour(Communicator(comm, {ranks}, {true}), dimension, "process grid has dimensions 0 to 0");
  const Communicator grid(comm, {ranks, 1}, {true, true});
  const std::string takes = " takes a coordinate for each dimension of the process grid, which has ";
  expect_error<CallError>([&] { grid.rank_at({1}); }, {"rank_at(1)" + takes + "2"});
  expect_error<CallError>([&] { comm.rank_at({}); }, {"rank_at()" + takes + "0"});
  expect_usable(comm);
}

} // namespace
} // namespace kontor::comm::test

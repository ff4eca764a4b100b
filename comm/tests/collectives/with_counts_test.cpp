// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations that bring their counts, the all-to-all in two hops, and Views to ranks that expect none.
#include "device_views.hpp"

#include <chrono>
#include <thread>

namespace kontor::comm::test {
namespace {

using WithCounts = OnRing;

/// (7 r + 3 round) % 5 elements: some ranks have none, and the next round has other numbers.
int count_of(int rank, int round) { return (7 * rank + 3 * round) % 5; }

/// By value and into memory that is there: `call(kept...)` takes memory or none.
template <class Row, class Call, class Expect>
void expect_in_each_way(Received<Row>& kept, const Call& call, const Expect& expect) {
  expect(call());
  kept = call(std::move(kept));
  expect(kept);
}

template <class Row>
void expect_gathered(const Received<Row>& received, int ranks, int round) {
  ASSERT_EQ(received.offsets.size(), static_cast<std::size_t>(ranks) + 1);
  for (int r = 0; r < ranks; ++r) expect_from(received.part(r), r, 0, count_of(r, round));
}

/// What a rank gives to a gather.
template <class Row>
Row given_in(const Communicator& comm, int round) {
  const Row in("in", static_cast<std::size_t>(count_of(comm.rank(), round)));
  on_device::set(in, element(comm.rank(), 0, 0));
  Kokkos::fence();
  return in;
}

/// Calls test(communicator, kept, round), as often as each rank takes to be a root.
template <class Test>
void in_rounds(const Test& test) {
  with_levels_and_memories([&](const Communicator& comm, auto row) {
    Received<decltype(row)> kept;
    for (int round = 0; round < std::max(5, comm.size()); ++round) test(comm, kept, round);
  });
}

TEST_F(WithCounts, Allgatherv) {
  in_rounds([]<class Row>(const Communicator& comm, Received<Row>& kept, int round) {
    const auto in = given_in<Row>(comm, round);
    expect_in_each_way(
        kept, [&](auto&&... to) { return allgatherv_with_counts(comm, in, std::move(to)...); },
        [&](const Received<Row>& received) { expect_gathered(received, comm.size(), round); });
  });
}

TEST_F(WithCounts, Gatherv) {
  in_rounds([]<class Row>(const Communicator& comm, Received<Row>& kept, int round) {
    const int root = round % comm.size();
    const auto in = given_in<Row>(comm, round);
    expect_in_each_way(
        kept, [&](auto&&... to) { return gatherv_with_counts(comm, in, root, std::move(to)...); },
        [&](const Received<Row>& received) {
          if (comm.rank() == root) return expect_gathered(received, comm.size(), round);
          EXPECT_EQ(received.data.size(), 0U);
          EXPECT_EQ(received.offsets.size(), 1U);
        });
  });
}

TEST_F(WithCounts, Scatterv) {
  in_rounds([]<class Row>(const Communicator& comm, Received<Row>& kept, int round) {
    const int root = round % comm.size();
    const auto count = [&](int, int to) { return count_of(to, round); };
    const bool here = comm.rank() == root;
    const Row in = here ? sent_by<Row>(root, comm.size(), count) : Row();
    const auto counts = here ? counts_of(root, comm.size(), count) : std::vector<int>();
    expect_in_each_way(
        kept, [&](auto&&... to) { return scatterv_with_counts(comm, in, counts, root, std::move(to)...); },
        [&](const Received<Row>& received) {
          ASSERT_EQ(received.offsets.size(), 2U);
          expect_from(received.part(0), root, comm.rank(), count_of(comm.rank(), round));
        });
  });
}

/// Nothing at all, from one rank, to one, some.
int traded(int from, int to, int ranks, int round) {
  if (round == 0) return 0;
  if (round == 1) return from == ranks - 1 ? 1 + to : 0;
  if (round == 2) return to == ranks - 1 ? 1 + from : 0;
  return (3 * from + 5 * to + round) % 4;
}

TEST_F(WithCounts, Alltoallv) {
  in_rounds([]<class Row>(const Communicator& comm, Received<Row>& kept, int round) {
    const auto count = [&](int from, int to) { return traded(from, to, comm.size(), round); };
    const auto in = sent_by<Row>(comm.rank(), comm.size(), count);
    const auto counts = counts_of(comm.rank(), comm.size(), count);
    expect_in_each_way(
        kept, [&](auto&&... to) { return alltoallv_with_counts(comm, in, counts, std::move(to)...); },
        [&](const Received<Row>& received) { expect_received(received, comm.rank(), count); });
  });
}

TEST_F(WithCounts, MemoryGrowsAndNeverShrinks) {
  Received<Doubles> kept;
  const auto filled_by = [&](std::size_t n) {
    kept = allgatherv_with_counts(comm, Doubles("in", n), std::move(kept));
    EXPECT_EQ(kept.data.size(), n * static_cast<std::size_t>(comm.size()));
    return kept.data.data();
  };
  const auto most = 5 * static_cast<std::size_t>(comm.size());
  const auto* const memory = filled_by(5);
  EXPECT_EQ(filled_by(3), memory);
  EXPECT_EQ(kept.capacity(), most);
  filled_by(0);
  EXPECT_EQ(kept.capacity(), most);
  EXPECT_EQ(filled_by(5), memory);
  filled_by(6);
  EXPECT_EQ(kept.capacity(), most / 5 * 6);
  EXPECT_EQ(kept.data.label(), "in");
  int number = 0;
  const Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> unnamed(&number, 1);
  EXPECT_EQ(allgatherv_with_counts(comm, unnamed).data.label(), "comm/received");
  const std::vector<int> ones(ranks, 1);
  EXPECT_EQ(alltoallv_with_counts(comm, Ints("all", ranks), ones).data.label(), "all");
}

/// Before anything is sent: nobody receives a count that is wrong, or another scalar.
TEST_F(WithCounts, Mismatches) {
  const Doubles in("in", 2);
  with_levels(levels_with_checks, [&](const Communicator& comm) {
    const AlltoallGrid grid(comm);
    const auto expect = [&](const auto& where, const std::string& call, std::size_t size, int first,
                            const std::string& fact) {
      std::vector<int> counts(size, 0);
      counts[0] = first;
      const auto wrong = [&] { (void)alltoallv_with_counts(where, in, counts); };
      const bool alone = comm.options().check == CheckLevel::local;
      expect_facts(alone ? text_of<CallError>(wrong) : text_of<UsageError>(wrong), {call, fact});
    };
    const auto ranks = static_cast<std::size_t>(comm.size());
    expect(comm, "alltoallv_with_counts", ranks, -1, "the count of rank 0 is -1");
    expect(comm, "alltoallv_with_counts", ranks, 3, "sum to 3, but View 'in' has 2 elements");
    expect(grid, "along a grid", ranks, -3, "the count of rank 0 is -3");
    expect(grid, "along a grid", ranks, 4, "but View 'in' has 2 elements");
    expect(grid, "along a grid", ranks + 1, 0, "ranks");
    const auto differ = [&] {
      comm.rank() == 1 ? (void)allgatherv_with_counts(comm, HostView<float*>("in", 2))
                       : (void)allgatherv_with_counts(comm, in);
    };
    if (ranks > 1 && comm.options().check == CheckLevel::cross_rank)
      expect_error<AgreedError>(differ, {"float", "double"});
    expect_usable(comm);
  });
}

/// By two hops, on any number of ranks.
TEST(AlltoallGrid, Delivers) {
  in_rounds([]<class Row>(const Communicator& world, Received<Row>& kept, int round) {
    for (int ranks = 1; ranks <= world.size(); ++ranks) { // incomplete last rows of any length
      const auto part = world.split(world.rank() < ranks ? std::optional(0) : std::nullopt);
      if (!part) continue;
      const AlltoallGrid grid(*part);
      const auto count = [&](int from, int to) { return traded(from, to, ranks, round); };
      const auto counts = counts_of(part->rank(), ranks, count);
      const auto in = sent_by<Row>(part->rank(), ranks, count);
      expect_received(alltoallv_with_counts(grid, in, counts), part->rank(), count);
      kept = alltoallv_with_counts(grid, in, counts, std::move(kept));
      expect_received(kept, part->rank(), count);
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

using SparseAlltoall = OnRing;

/// Elements that `from` sends to `to` in a round; -1: no message.
int count(int from, int to, int round) {
  if (from == 0 && round % 3 == 0) return -1;
  return (from * 7 + to * 3 + round) % 5 - 1;
}

template <class Row>
SparseMessages<Row> messages_of(int rank, int ranks, int round) {
  SparseMessages<Row> messages;
  for (int i = 0; i < ranks; ++i) {
    const int to = (rank + ranks - i) % ranks; // in no order
    if (count(rank, to, round) < 0) continue;
    const Row row("sent", static_cast<std::size_t>(count(rank, to, round)));
    on_device::set(row, element(rank, to, 0));
    messages.emplace_back(to, row);
  }
  Kokkos::fence();
  return messages;
}

TEST_F(SparseAlltoall, Graphs) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    for (int round = 0; round < 12; ++round) {
      const auto messages = messages_of<Row>(comm.rank(), comm.size(), round);
      if (comm.rank() == round % 5) std::this_thread::sleep_for(std::chrono::milliseconds(1)); // late
      const auto received = sparse_alltoall(comm, messages, "graph");
      auto next = received.begin();
      for (int from = 0; from < comm.size(); ++from) {
        const int n = count(from, comm.rank(), round);
        if (n < 0) continue;
        ASSERT_NE(next, received.end());
        EXPECT_EQ(next->first, from);
        expect_from(next->second, from, comm.rank(), n);
        ++next;
      }
      EXPECT_EQ(next, received.end());
    }
  });
}

/// A column of a matrix, and nobody.
TEST_F(SparseAlltoall, StridedViews) {
  using Column = HostView<double*, Stride>;
  const Plane matrix("matrix", 4, 3);
  const Column column = Kokkos::subview(matrix, Kokkos::ALL, 1);
  on_device::set(column, element(comm.rank(), 0, 0));
  Kokkos::fence();
  const auto received = sparse_alltoall(comm, SparseMessages<Column>{{next, column}, {no_rank, column}});
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].first, previous);
  expect_from(received[0].second, previous, 0, 4);
}

/// At level `cross_rank` an error of all ranks.
TEST_F(SparseAlltoall, DestinationsThatAreWrong) {
  const Doubles row("row", 1);
  const auto call = [&](const Communicator& comm, const SparseMessages<Doubles>& messages) {
    return [&comm, messages] { (void)sparse_alltoall(comm, messages, "graph"); };
  };
  EXPECT_EQ(text_of<CallError>(call(comm, {{ranks, row}})),
            fmt::format("sparse_alltoall 'graph': destination {} is no rank; there are {}, from 0", ranks, ranks));
  EXPECT_EQ(text_of<CallError>(call(comm, {{0, row}, {0, row}})),
            "sparse_alltoall 'graph': destination 0 is there twice; give all that goes to it in one View");
  const Communicator checked(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank});
  expect_error<UsageError>(call(checked, {{rank == 0 ? ranks : no_rank, row}}),
                           {fmt::format("destination {} is no rank", ranks)});
  expect_usable(comm);
  expect_usable(checked);
}

TEST_F(SparseAlltoall, ScalarsThatDifferAreAnErrorOfAllRanks) {
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank});
  if (comm.size() == 1) GTEST_SKIP() << "a rank does not differ from itself";
  using Floats = HostView<float*>;
  EXPECT_EQ(text_of<AgreedError>([&] {
              if (comm.rank() == 1)
                (void)sparse_alltoall(comm, SparseMessages<Floats>{{0, Floats("row", 2)}}, "graph");
              else
                (void)sparse_alltoall(comm, SparseMessages<Doubles>{}, "graph");
            }),
            "sparse_alltoall 'graph': rank 1 sends float, but rank 0 receives double");
  expect_usable(comm);
}

/// A message that is no multiple of the receiver's element ends with an error, not beyond its memory.
TEST_F(SparseAlltoall, AMessageOfOtherElements) {
  if (comm.size() == 1) GTEST_SKIP() << "a rank does not differ from itself";
  struct Element {
    double values[64];
  };
  using Wide = HostView<Element*>;
  if (comm.rank() == 1)
    (void)sparse_alltoall(comm, SparseMessages<Doubles>{{0, Doubles("row", 63)}}, "graph");
  else if (comm.rank() == 0)
    expect_error<Error>([&] { (void)sparse_alltoall(comm, SparseMessages<Wide>{}, "graph"); },
                        {"sparse_alltoall 'graph'", "rank 1 sends 504 bytes", "512 bytes"});
  else
    (void)sparse_alltoall(comm, SparseMessages<Doubles>{}, "graph");
  expect_usable(comm);
}

} // namespace
} // namespace kontor::comm::test

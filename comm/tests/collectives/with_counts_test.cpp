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

/// Nothing at all, from one rank, to one, some.
int traded(int from, int to, int ranks, int round) {
  if (round == 0) return 0;
  if (round == 1) return from == ranks - 1 ? 1 + to : 0;
  if (round == 2) return to == ranks - 1 ? 1 + from : 0;
  return (3 * from + 5 * to + round) % 4;
}

/// By value and into memory that is there: `call(kept...)` takes memory or none. What `count` says comes from each rank
/// from `first` to before `end`, for `to`.
template <class Row, class Call, class Count>
void expect_received(Received<Row>& kept, int first, int end, int to, const Count& count, const Call& call) {
  const auto expect = [&](const Received<Row>& received) {
    ASSERT_EQ(received.offsets.size(), static_cast<std::size_t>(end - first) + 1);
    for (int from = first; from < end; ++from) expect_from(received.part(from - first), from, to, count(from, to));
    EXPECT_EQ(received.offsets.back(), static_cast<std::int64_t>(received.data.size()));
  };
  expect(call());
  kept = call(std::move(kept));
  expect(kept);
}

/// As many rounds as each rank takes to be a root.
TEST_F(WithCounts, Deliver) {
  with_levels_and_memories([]<class Row>(const Communicator& comm, Row) {
    const int me = comm.rank(), ranks = comm.size();
    Received<Row> all, at_root, own, pairs;
    for (int round = 0; round < std::max(5, ranks); ++round) {
      const int root = round % ranks;
      const bool here = me == root;
      const auto of_sender = [&](int from, int) { return count_of(from, round); };
      const auto of_receiver = [&](int, int to) { return count_of(to, round); };
      const auto of_pair = [&](int from, int to) { return traded(from, to, ranks, round); };
      const auto part = sent_by<Row>(me, 1, of_sender);
      const auto whole = here ? sent_by<Row>(me, ranks, of_receiver) : Row();
      const auto to_all = sent_by<Row>(me, ranks, of_pair);
      const auto whole_counts = here ? counts_of(me, ranks, of_receiver) : std::vector<int>();
      const auto counts = counts_of(me, ranks, of_pair);
      expect_received(all, 0, ranks, 0, of_sender,
                      [&](auto&&... to) { return allgatherv_with_counts(comm, part, std::move(to)...); });
      expect_received(at_root, 0, here ? ranks : 0, 0, of_sender,
                      [&](auto&&... to) { return gatherv_with_counts(comm, part, root, std::move(to)...); });
      expect_received(own, root, root + 1, me, of_receiver, [&](auto&&... to) {
        return scatterv_with_counts(comm, whole, whole_counts, root, std::move(to)...);
      });
      expect_received(pairs, 0, ranks, me, of_pair,
                      [&](auto&&... to) { return alltoallv_with_counts(comm, to_all, counts, std::move(to)...); });
      for (int few = 1; few <= ranks; ++few) { // by two hops, with incomplete last rows of any length
        const auto some = comm.split(me < few ? std::optional(0) : std::nullopt);
        if (!some) continue;
        const AlltoallGrid grid(*some);
        const auto of_few = [&](int from, int to) { return traded(from, to, few, round); };
        const auto sent = sent_by<Row>(me, few, of_few);
        const auto few_counts = counts_of(me, few, of_few);
        expect_received(pairs, 0, few, me, of_few,
                        [&](auto&&... to) { return alltoallv_with_counts(grid, sent, few_counts, std::move(to)...); });
      }
    }
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
  expect_error<CallError>(call(comm, {{ranks, row}}),
                          {fmt::format("'graph': destination {0} is no rank; there are {0}, from 0", ranks)});
  expect_error<CallError>(call(comm, {{0, row}, {0, row}}), {"'graph': destination 0 is there twice; give all"});
  const Communicator checked(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank});
  expect_error<UsageError>(call(checked, {{rank == 0 ? ranks : no_rank, row}}),
                           {fmt::format("destination {} is no rank", ranks)});
  expect_usable(comm);
  expect_usable(checked);
}

TEST_F(SparseAlltoall, ScalarsThatDifferAreAnErrorOfAllRanks) {
  if (ranks == 1) GTEST_SKIP() << "a rank does not differ from itself";
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank});
  const HostView<float*> floats("floats", 2);
  expect_error<AgreedError>(
      [&] {
        if (rank == 1)
          (void)sparse_alltoall(comm, SparseMessages<HostView<float*>>{{0, floats}}, "graph");
        else
          (void)sparse_alltoall(comm, SparseMessages<Doubles>{}, "graph");
      },
      {"sparse_alltoall 'graph': rank 1 sends float, but rank 0 receives double"});
  const Doubles doubles("doubles", 2);
  expect_error<AgreedError>(
      [&] { rank == 1 ? (void)allgatherv_with_counts(comm, floats) : (void)allgatherv_with_counts(comm, doubles); },
      {"float", "double"});
  expect_usable(comm);
}

/// A message that is no multiple of the receiver's element ends with an error, not beyond its memory.
TEST_F(SparseAlltoall, AMessageOfOtherElements) {
  if (comm.size() == 1) GTEST_SKIP() << "a rank does not differ from itself";
  using Floats = HostView<float*>;
  if (rank == 1)
    (void)sparse_alltoall(comm, SparseMessages<Floats>{{0, Floats("row", 63)}}, "graph");
  else if (rank == 0)
    expect_error<Error>([&] { (void)sparse_alltoall(comm, SparseMessages<Doubles>{}, "graph"); },
                        {"sparse_alltoall 'graph'", "rank 1 sends 252 bytes", "8 bytes"});
  else
    (void)sparse_alltoall(comm, SparseMessages<Doubles>{}, "graph");
  expect_usable(comm);
}

} // namespace
} // namespace kontor::comm::test

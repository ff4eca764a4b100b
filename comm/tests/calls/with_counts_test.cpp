// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations that bring their counts: by value, into memory that is there, and non-blocking.
#include "sizes.hpp"

namespace kontor::comm::test {
namespace {

using WithCounts = OnRing;

/// (7 r + 3 round) % 5 elements: some ranks have none, and the next round has other numbers.
int count_of(int rank, int round) { return (7 * rank + 3 * round) % 5; }

/// A request that is asked until it is complete.
template <class Request>
auto asked(Request request) {
  for (;;)
    if (auto result = request.test()) return *result;
}

/// By value and into memory that is there, blocking and not. `call(kept...)` and `request(kept...)` take memory or
/// nothing.
template <class Row, class Call, class RequestOf, class Expect>
void expect_in_each_way(Received<Row>& kept, const Call& call, const RequestOf& request, const Expect& expect) {
  expect(call());
  kept = call(std::move(kept));
  expect(kept);
  expect(request().wait());
  kept = asked(request(std::move(kept)));
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

TEST_F(WithCounts, Allgatherv) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    Received<Row> kept;
    for (int round = 0; round < 5; ++round) {
      const auto in = given_in<Row>(comm, round);
      expect_in_each_way(
          kept, [&](auto&&... to) { return allgatherv_with_counts(comm, in, std::move(to)...); },
          [&](auto&&... to) { return iallgatherv_with_counts(comm, in, std::move(to)...); },
          [&](const Received<Row>& received) { expect_gathered(received, comm.size(), round); });
    }
  });
}

/// Of two kinds, with others among them and work in between.
TEST_F(WithCounts, ManyAtOnce) {
  const auto in = given_in<Doubles>(comm, 2);
  const auto begun = [&] { return iallgatherv_with_counts(comm, in); };
  auto first = begun(), second = begun();
  auto third = iallreduce(comm, 1, ReduceOp::sum);
  auto last = igatherv_with_counts(comm, in, 0);
  EXPECT_EQ(allreduce(comm, 1, ReduceOp::sum), ranks);
  wait_all(first, second, third);
  EXPECT_TRUE(third.finished());
  expect_gathered(first.wait(), ranks, 2);
  expect_gathered(second.wait(), ranks, 2);
  const auto gathered = last.wait();
  if (rank == 0) expect_gathered(gathered, ranks, 2);
  std::vector<RequestWithCounts<Doubles, Doubles>> some;
  some.push_back(begun());
  some.push_back(begun());
  while (!test_all(some)) {
  }
  for (auto& request : some) expect_gathered(request.wait(), comm.size(), 2);
}

TEST_F(WithCounts, Gatherv) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    Received<Row> kept;
    for (int root = 0; root < comm.size(); ++root) {
      const auto in = given_in<Row>(comm, root);
      expect_in_each_way(
          kept, [&](auto&&... to) { return gatherv_with_counts(comm, in, root, std::move(to)...); },
          [&](auto&&... to) { return igatherv_with_counts(comm, in, root, std::move(to)...); },
          [&](const Received<Row>& received) {
            if (comm.rank() == root) return expect_gathered(received, comm.size(), root);
            EXPECT_EQ(received.data.size(), 0U);
            EXPECT_EQ(received.offsets.size(), 1U);
          });
    }
  });
}

TEST_F(WithCounts, Scatterv) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    Received<Row> kept;
    for (int root = 0; root < comm.size(); ++root) {
      const bool here = comm.rank() == root;
      const auto count = [&](int, int to) { return count_of(to, root); };
      const Row in = here ? sent_by<Row>(root, comm.size(), count) : Row();
      std::vector<int> counts;
      for (int r = 0; r < comm.size() && here; ++r) counts.push_back(count(root, r));
      expect_in_each_way(
          kept, [&](auto&&... to) { return scatterv_with_counts(comm, in, counts, root, std::move(to)...); },
          [&](auto&&... to) { return iscatterv_with_counts(comm, in, counts, root, std::move(to)...); },
          [&](const Received<Row>& received) {
            ASSERT_EQ(received.offsets.size(), 2U);
            expect_from(received.part(0), root, comm.rank(), count_of(comm.rank(), root));
          });
    }
  });
}

TEST_F(WithCounts, Alltoallv) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    Received<Row> kept;
    for (int round = 0; round < 4; ++round) {
      const auto count = [&](int from, int to) { return round == 3 ? 0 : (from + 2 * to + round) % 4; };
      const auto in = sent_by<Row>(comm.rank(), comm.size(), count);
      std::vector<int> counts;
      for (int r = 0; r < comm.size(); ++r) counts.push_back(count(comm.rank(), r));
      expect_in_each_way(
          kept, [&](auto&&... to) { return alltoallv_with_counts(comm, in, counts, std::move(to)...); },
          [&](auto&&... to) { return ialltoallv_with_counts(comm, in, counts, std::move(to)...); },
          [&](const Received<Row>& received) { expect_received(received, comm.rank(), count); });
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
}

TEST_F(WithCounts, WhatWasGivenIsGone) {
  auto request = iallgatherv_with_counts(comm, Doubles("in", 2));
  (void)request.wait();
  EXPECT_THROW(request.wait(), CallError);
}

/// Strided, in columns: elements arrive in the order in which they lie.
TEST_F(WithCounts, ViewsOfRank2) {
  const HostView<int**, Right> around("around", 3, 5);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) around(i, j) = 100 * comm.rank() + 10 * i + j;
  const auto in = Kokkos::subview(around, std::pair(1, 3), std::pair(1, 3));
  const auto received = allgatherv_with_counts(comm, in);
  for (int r = 0; r < comm.size(); ++r) {
    EXPECT_EQ(received.part(r)(0), 100 * r + 11);
    EXPECT_EQ(received.part(r)(1), 100 * r + 12);
    EXPECT_EQ(received.part(r)(3), 100 * r + 22);
  }
}

/// Rank r sends r % 3 rows of a column to each rank.
TEST_F(WithCounts, StridedAlltoallv) {
  const int mine = comm.rank() % 3;
  const HostView<int**, Right> around("around", mine * comm.size(), 2);
  const auto column = Kokkos::subview(around, Kokkos::ALL, 1);
  for (int i = 0; i < mine * comm.size(); ++i) column(i) = 100 * comm.rank() + i;
  const auto received = alltoallv_with_counts(comm, column, std::vector<int>(comm.size(), mine));
  for (int r = 0; r < comm.size(); ++r) {
    ASSERT_EQ(received.part(r).size(), static_cast<std::size_t>(r % 3)) << r;
    for (int i = 0; i < r % 3; ++i) EXPECT_EQ(received.part(r)(i), 100 * r + (r % 3) * comm.rank() + i) << r;
  }
}

TEST_F(WithCounts, ScalarsThatDifferAreAnErrorOfAllRanks) {
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank});
  if (comm.size() == 1) GTEST_SKIP() << "a rank does not differ from itself";
  const auto text = text_of<AgreedError>([&] {
    if (comm.rank() == 1)
      (void)allgatherv_with_counts(comm, HostView<float*>("in", 2));
    else
      (void)allgatherv_with_counts(comm, Doubles("in", 2));
  });
  expect_facts(text, {"float", "double"});
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Counts, OfAViewWithAStride) {
  const HostView<int**, Right> table("table", 3, 2);
  for (int i = 0; i < 3; ++i) table(i, 1) = i * i;
  const Counts counts(Kokkos::subview(table, Kokkos::ALL, 1));
  EXPECT_EQ(counts.values(), (std::vector<std::int64_t>{0, 1, 4}));
}

/// Before anything is sent: nobody receives a count that is wrong.
TEST_F(WithCounts, WrongCountsAreRefused) {
  const Doubles in("in", 2);
  for (const auto check : {CheckLevel::local, CheckLevel::cross_rank}) {
    const Communicator comm(MPI_COMM_WORLD, {.check = check});
    const auto text = [&](std::int64_t first) {
      std::vector<std::int64_t> counts(comm.size(), 0);
      counts[0] = first;
      const auto call = [&] { (void)alltoallv_with_counts(comm, in, counts); };
      return check == CheckLevel::local ? text_of<CallError>(call) : text_of<UsageError>(call);
    };
    expect_facts(text(-1), {"alltoallv_with_counts", "the count of rank 0 is -1"});
    expect_facts(text(3), {"alltoallv_with_counts", "sum to 3, but View 'in' has 2 elements"});
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

} // namespace
} // namespace kontor::comm::test

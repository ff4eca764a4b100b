// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations that bring their counts: by value, into memory that is there, and non-blocking.
#include "error_text.hpp"
#include "sizes.hpp"

#include <fmt/format.h>

namespace kontor::comm::test {
namespace {

/// (7 r + 3 round) % 5 elements: some ranks have none, and the next round has other numbers.
int count_of(int rank, int round) {
  return (7 * rank + 3 * round) % 5;
}

/// A request that is asked until it is complete.
template <class Request>
auto asked(Request request) {
  for (;;)
    if (auto result = request.test()) return *result;
}

template <class Row>
void expect_gathered(const Received<Row>& received, int ranks, int round) {
  ASSERT_EQ(received.offsets.size(), static_cast<std::size_t>(ranks) + 1);
  for (int r = 0; r < ranks; ++r) expect_from(received.part(r), r, 0, count_of(r, round));
}

TEST(WithCounts, Allgatherv) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    Received<Row> kept, again;
    for (int round = 0; round < 5; ++round) {
      const Row in("in", static_cast<std::size_t>(count_of(comm.rank(), round)));
      on_device::set(in, element(comm.rank(), 0, 0));
      Kokkos::fence();
      expect_gathered(allgatherv_with_counts(comm, in), comm.size(), round);
      kept = allgatherv_with_counts(comm, in, std::move(kept));
      expect_gathered(kept, comm.size(), round);
      again = iallgatherv_with_counts(comm, in, std::move(again)).wait();
      expect_gathered(again, comm.size(), round);
      expect_gathered(asked(iallgatherv_with_counts(comm, in)), comm.size(), round);
    }
  });
}

TEST(WithCounts, Gatherv) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    Received<Row> kept, later;
    for (int root = 0; root < comm.size(); ++root) {
      const Row in("in", static_cast<std::size_t>(count_of(comm.rank(), root)));
      on_device::set(in, element(comm.rank(), 0, 0));
      Kokkos::fence();
      const auto expect = [&](const Received<Row>& received) {
        if (comm.rank() == root) return expect_gathered(received, comm.size(), root);
        EXPECT_EQ(received.data.size(), 0U);
        EXPECT_EQ(received.offsets.size(), 1U);
      };
      expect(gatherv_with_counts(comm, in, root));
      kept = gatherv_with_counts(comm, in, root, std::move(kept));
      expect(kept);
      expect(igatherv_with_counts(comm, in, root).wait());
      expect(asked(igatherv_with_counts(comm, in, root, std::move(later))));
    }
  });
}

TEST(WithCounts, Scatterv) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    Received<Row> kept, later;
    for (int root = 0; root < comm.size(); ++root) {
      const bool here = comm.rank() == root;
      const auto count = [&](int, int to) { return count_of(to, root); };
      const Row in = here ? sent_by<Row>(root, comm.size(), count) : Row();
      std::vector<int> counts;
      for (int r = 0; r < comm.size() && here; ++r) counts.push_back(count(root, r));
      const auto expect = [&](const Received<Row>& received) {
        ASSERT_EQ(received.offsets.size(), 2U);
        expect_from(received.part(0), root, comm.rank(), count_of(comm.rank(), root));
      };
      expect(scatterv_with_counts(comm, in, counts, root));
      kept = scatterv_with_counts(comm, in, counts, root, std::move(kept));
      expect(kept);
      expect(iscatterv_with_counts(comm, in, counts, root).wait());
      expect(asked(iscatterv_with_counts(comm, in, counts, root, std::move(later))));
    }
  });
}

TEST(WithCounts, Alltoallv) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    Received<Row> kept;
    for (int round = 0; round < 4; ++round) {
      const auto count = [&](int from, int to) { return round == 3 ? 0 : (from + 2 * to + round) % 4; };
      const auto in = sent_by<Row>(comm.rank(), comm.size(), count);
      std::vector<int> counts;
      for (int r = 0; r < comm.size(); ++r) counts.push_back(count(comm.rank(), r));
      expect_received(alltoallv_with_counts(comm, in, counts), comm.rank(), count);
      kept = alltoallv_with_counts(comm, in, counts, std::move(kept));
      expect_received(kept, comm.rank(), count);
      expect_received(ialltoallv_with_counts(comm, in, counts).wait(), comm.rank(), count);
      kept = asked(ialltoallv_with_counts(comm, in, counts, std::move(kept)));
      expect_received(kept, comm.rank(), count);
    }
  });
}

/// Two operations are under way at the same time, and work goes on in between.
TEST(WithCounts, TwoAtATime) {
  const Communicator comm(MPI_COMM_WORLD);
  const HostRow in("in", static_cast<std::size_t>(count_of(comm.rank(), 1)));
  on_device::set(in, element(comm.rank(), 0, 0));
  Kokkos::fence();
  auto first = iallgatherv_with_counts(comm, in);
  auto second = igatherv_with_counts(comm, in, 0);
  EXPECT_EQ(allreduce(comm, 1, ReduceOp::sum), comm.size());
  expect_gathered(first.wait(), comm.size(), 1);
  const auto gathered = second.wait();
  if (comm.rank() == 0) expect_gathered(gathered, comm.size(), 1);
}

TEST(WithCounts, MemoryGrowsAndNeverShrinks) {
  const Communicator comm(MPI_COMM_WORLD);
  Received<HostRow> kept;
  const auto filled_by = [&](std::size_t n) {
    kept = allgatherv_with_counts(comm, HostRow("in", n), std::move(kept));
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

TEST(WithCounts, WhatWasGivenIsGone) {
  const Communicator comm(MPI_COMM_WORLD);
  auto request = iallgatherv_with_counts(comm, HostRow("in", 2));
  (void)request.wait();
  EXPECT_THROW(request.wait(), CallError);
}

/// Strided, in columns: elements arrive in the order in which they lie.
TEST(WithCounts, ViewsOfRank2) {
  const Communicator comm(MPI_COMM_WORLD);
  const Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> around("around", 3, 5);
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

TEST(WithCounts, ScalarsThatDifferAreAnErrorOfAllRanks) {
  Options options;
  options.check = CheckLevel::cross_rank;
  const Communicator comm(MPI_COMM_WORLD, options);
  if (comm.size() == 1) GTEST_SKIP() << "a rank does not differ from itself";
  const auto text = text_of<AgreedError>([&] {
    if (comm.rank() == 1)
      (void)allgatherv_with_counts(comm, Kokkos::View<float*, Kokkos::HostSpace>("in", 2));
    else
      (void)allgatherv_with_counts(comm, HostRow("in", 2));
  });
  EXPECT_NE(text.find("float"), std::string::npos) << text;
  EXPECT_NE(text.find("double"), std::string::npos) << text;
  MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views to ranks that do not know who sends to them.
#include "sizes.hpp"

#include <chrono>
#include <thread>

namespace kontor::comm::test {
namespace {

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
    for (int round = 0; round < 5; ++round)
      for (const std::size_t most : {std::size_t{1} << 30U, std::size_t{17}}) {
        const auto messages = messages_of<Row>(comm.rank(), comm.size(), round);
        if (comm.rank() == round) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const auto received = sparse_alltoall(comm, messages, "graph", most);
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

TEST_F(SparseAlltoall, DestinationsThatAreWrong) {
  const Doubles row("row", 1);
  EXPECT_EQ(text_of<CallError>([&] {
              (void)sparse_alltoall(comm, SparseMessages<Doubles>{{ranks, row}}, "graph");
            }),
            fmt::format("sparse_alltoall 'graph': destination {} is no rank; there are {}, from 0", ranks, ranks));
  EXPECT_EQ(text_of<CallError>([&] {
              (void)sparse_alltoall(comm, SparseMessages<Doubles>{{0, row}, {0, row}}, "graph");
            }),
            "sparse_alltoall 'graph': destination 0 is there twice; give all that goes to it in one View");
  expect_usable(comm);
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

TEST_F(SparseAlltoall, ARankThatDoesNotComeIsAnError) {
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank, .timeout = 0.2});
  if (last == 0) GTEST_SKIP() << "a rank does not miss itself";
  if (comm.rank() != last) {
    const auto text = text_of<Error>([&] {
      (void)sparse_alltoall(comm, SparseMessages<Doubles>{{last, Doubles("row", 2)}}, "graph");
    });
    expect_facts(text, {"sparse_alltoall 'graph'", fmt::format("missing: {}", last)});
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() == last) detail::internals(comm).leak_at_end();
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
    expect_facts(text_of<Error>([&] { (void)sparse_alltoall(comm, SparseMessages<Wide>{}, "graph"); }),
                 {"sparse_alltoall 'graph'", "rank 1 sends 504 bytes", "512 bytes"});
  else
    (void)sparse_alltoall(comm, SparseMessages<Doubles>{}, "graph");
  expect_usable(comm);
}

TEST_F(SparseAlltoall, ADestinationThatIsNoRankIsAnErrorOfAllRanks) {
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank});
  const int peer = comm.rank() == 0 ? comm.size() : no_rank;
  const SparseMessages<Doubles> messages{{peer, Doubles("row", 1)}};
  expect_facts(text_of<UsageError>([&] { (void)sparse_alltoall(comm, messages, "graph"); }),
               {fmt::format("destination {} is no rank", comm.size())});
  expect_usable(comm);
}

} // namespace
} // namespace kontor::comm::test

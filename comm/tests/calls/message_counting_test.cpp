// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed messages of contiguous Views make the MPI calls of the same code in plain MPI, and nothing else.
#include "cost.hpp"

#include <array>

namespace kontor::comm::test {
namespace {

using Block = HostView<double**, Left>;

class MessageCounting : public AtLevel {
 protected:
  Block out{"out", 4, 5};
  Block in{"in", 4, 5};
};
INSTANTIATE_TEST_SUITE_P(Levels, MessageCounting, testing::Values(CheckLevel::off, CheckLevel::local));

TEST_P(MessageCounting, Blocking) {
  expect_calls({{"MPI_Sendrecv", 1}}, [&] { sendrecv(comm, out, next, in, previous, 1); });
  expect_calls({{"MPI_Sendrecv_replace", 1}}, [&] { sendrecv_replace(comm, in, next, previous, 1); });
  expect_calls({{"MPI_Irecv", 1}, {"MPI_Send", 1}, {"MPI_Wait", 1}}, [&] {
    auto request = irecv(comm, in, previous);
    send(comm, HostView<const double**, Left>(out), next);
    request.wait();
  });
  expect_calls({{"MPI_Isend", 1}, {"MPI_Recv", 1}, {"MPI_Wait", 1}}, [&] {
    auto request = isend(comm, out, next);
    recv(comm, in, any_source, any_tag);
    request.wait();
  });
}

TEST_P(MessageCounting, Nonblocking) {
  expect_calls({{"MPI_Irecv", 1}, {"MPI_Isend", 1}, {"MPI_Waitall", 1}},
               [&] { isendrecv(comm, out, next, in, previous).wait(); });
  expect_calls({{"MPI_Irecv", 2}, {"MPI_Isend", 2}, {"MPI_Waitall", 1}}, [&] {
    std::array<Request<Block>, 4> pool{irecv(comm, in, previous, 0), irecv(comm, in, previous, 1),
                                       isend(comm, out, next, 0), isend(comm, out, next, 1)};
    wait_all(pool);
    for (auto& request : pool) request.wait();
  });
  expect_calls({{"MPI_Irecv", 1}, {"MPI_Isend", 1}, {"MPI_Waitany", 2}}, [&] {
    std::array<Request<Block>, 2> pool{irecv(comm, in, previous), isend(comm, out, next)};
    wait_any(pool);
    wait_any(pool);
  });
}

/// Of messages that have arrived.
TEST_P(MessageCounting, Tests) {
  expect_calls({{"MPI_Isend", 1}, {"MPI_Recv", 1}, {"MPI_Barrier", 1}, {"MPI_Test", 1}}, [&] {
    auto request = isend(comm, out, next);
    recv(comm, in, previous);
    barrier(comm);
    EXPECT_TRUE(request.test().has_value());
  });
  const MpiCalls calls{{"MPI_Irecv", 2}, {"MPI_Isend", 2}, {"MPI_Waitall", 2}, {"MPI_Barrier", 1}, {"MPI_Testall", 1}};
  expect_calls(calls, [&] {
    std::array<Request<Block>, 2> pool{irecv(comm, in, previous, 0), irecv(comm, in, previous, 1)};
    auto first = isend(comm, out, next, 0);
    auto second = isend(comm, out, next, 1);
    wait_all(first, second);
    barrier(comm);
    if (test_all(pool)) // not on every MPI at once
      MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE);
    else
      wait_all(pool);
  });
}

/// A strided View takes one kernel and one copy at each end, which are gone afterwards.
TEST_P(MessageCounting, StridedViews) {
  const Plane array("array", 4, 5);
  const auto column = [&](int j) { return Kokkos::subview(array, Kokkos::ALL, j); };
  expect_packed({{"MPI_Sendrecv", 1}}, [&] { sendrecv(comm, column(1), next, column(2), previous); });
}

/// Views that go nowhere are not packed.
TEST_P(MessageCounting, NoRank) {
  const Plane array("array", 4, 5);
  const auto column = Kokkos::subview(array, Kokkos::ALL, 1);
  const auto cost = cost_of([&] {
    send(comm, column, no_rank);
    recv(comm, column, no_rank);
    sendrecv(comm, column, no_rank, column, no_rank);
    isendrecv(comm, column, no_rank, column, no_rank).wait();
  });
  EXPECT_EQ(cost.tools.allocations, List{});
  EXPECT_EQ(cost.tools.kernels, List{});
  EXPECT_EQ(cost.tools.fences, List{});
}

TEST_P(MessageCounting, SendWithExtents) {
  if (ranks == 1) return;
  const auto send_to_1 = [&] {
    if (rank == 0) send_with_extents(comm, out, 1);
  };
  EXPECT_EQ(cost_of(send_to_1).mpi, rank == 0 ? (MpiCalls{{"MPI_Send", 2}}) : MpiCalls{});
  for (int n = 0; n < 2 && rank == 1; ++n) EXPECT_EQ(recv_with_extents<Block>(comm, 0).size(), 20u);
}

} // namespace
} // namespace kontor::comm::test

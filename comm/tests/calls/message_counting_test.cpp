// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed messages of contiguous Views make the MPI calls of the same code in plain MPI, and nothing else.
#include "cost.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
using List = std::vector<std::string>;

class MessageCounting : public testing::TestWithParam<CheckLevel> {
 protected:
  static Options options() {
    Options options;
    options.check = GetParam();
    return options;
  }
  Communicator comm{MPI_COMM_WORLD, options()};
  MPI_Comm raw = comm.native();
  int previous = ring_of(comm).first;
  int next = ring_of(comm).second;
  Block out{"out", 4, 5};
  Block in{"in", 4, 5};
  int count = 20;

  /// The one in plain MPI, the other typed.
  template <class Plain, class Typed>
  void expect_equal_cost(Plain plain, Typed typed) {
    const auto expected = cost_of(plain);
    const auto cost = cost_of(typed);
    EXPECT_EQ(cost.mpi, expected.mpi);
    EXPECT_EQ(cost.allocations, 0);
    EXPECT_EQ(cost.tools.allocations, List{});
    EXPECT_EQ(cost.tools.kernels, List{});
    EXPECT_EQ(cost.tools.fences, List{});
    EXPECT_EQ(cost.tools.regions, List{});
  }

  MPI_Request plain_receive(int tag) {
    MPI_Request request;
    MPI_Irecv(in.data(), count, MPI_DOUBLE, previous, tag, raw, &request);
    return request;
  }
  MPI_Request plain_send(int tag) {
    MPI_Request request;
    MPI_Isend(out.data(), count, MPI_DOUBLE, next, tag, raw, &request);
    return request;
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, MessageCounting, testing::Values(CheckLevel::off, CheckLevel::local));

TEST_P(MessageCounting, Exchange) {
  expect_equal_cost(
      [&] {
        MPI_Sendrecv(out.data(), count, MPI_DOUBLE, next, 1, in.data(), count, MPI_DOUBLE, previous, 1, raw,
                     MPI_STATUS_IGNORE);
      },
      [&] { sendrecv(comm, out, next, in, previous, 1); });
}

TEST_P(MessageCounting, Replace) {
  expect_equal_cost(
      [&] {
        MPI_Sendrecv_replace(in.data(), count, MPI_DOUBLE, next, 1, previous, 1, raw, MPI_STATUS_IGNORE);
      },
      [&] { sendrecv_replace(comm, in, next, previous, 1); });
}

TEST_P(MessageCounting, TestAll) {
  expect_equal_cost(
      [&] {
        MPI_Request requests[] = {plain_receive(0), plain_receive(1)};
        MPI_Request sends[] = {plain_send(0), plain_send(1)};
        MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        MPI_Barrier(raw);
        int done = 0;
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      },
      [&] {
        std::array<Request<Block>, 2> pool{irecv(comm, in, previous, 0), irecv(comm, in, previous, 1)};
        auto first = isend(comm, out, next, 0);
        auto second = isend(comm, out, next, 1);
        wait_all(first, second);
        barrier(comm);
        if (test_all(pool)) {
          MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE);
        } else {
          wait_all(pool);
        }
      });
}

TEST_P(MessageCounting, SendAndIrecv) {
  expect_equal_cost(
      [&] {
        auto request = plain_receive(0);
        MPI_Send(out.data(), count, MPI_DOUBLE, next, 0, raw);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      },
      [&] {
        auto request = irecv(comm, in, previous);
        send(comm, Kokkos::View<const double**, Kokkos::LayoutLeft, Kokkos::HostSpace>(out), next);
        request.wait();
      });
}

TEST_P(MessageCounting, RecvAndIsend) {
  expect_equal_cost(
      [&] {
        auto request = plain_send(0);
        MPI_Recv(in.data(), count, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, raw, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      },
      [&] {
        auto request = isend(comm, out, next);
        recv(comm, in, any_source, any_tag);
        request.wait();
      });
}

TEST_P(MessageCounting, Iexchange) {
  expect_equal_cost(
      [&] {
        MPI_Request requests[] = {plain_receive(0), plain_send(0)};
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      },
      [&] { isendrecv(comm, out, next, in, previous).wait(); });
}

TEST_P(MessageCounting, WaitAll) {
  expect_equal_cost(
      [&] {
        MPI_Request requests[] = {plain_receive(0), plain_receive(1), plain_send(0), plain_send(1)};
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
      },
      [&] {
        std::array<Request<Block>, 4> pool{irecv(comm, in, previous, 0), irecv(comm, in, previous, 1),
                                           isend(comm, out, next, 0), isend(comm, out, next, 1)};
        wait_all(pool);
        for (auto& request : pool) request.wait();
      });
}

TEST_P(MessageCounting, WaitAny) {
  expect_equal_cost(
      [&] {
        MPI_Request requests[] = {plain_receive(0), plain_send(0)};
        int index = 0;
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      },
      [&] {
        std::array<Request<Block>, 2> pool{irecv(comm, in, previous), isend(comm, out, next)};
        wait_any(pool);
        wait_any(pool);
      });
}

TEST_P(MessageCounting, Test) {
  expect_equal_cost(
      [&] {
        auto request = plain_send(0);
        MPI_Recv(in.data(), count, MPI_DOUBLE, previous, 0, raw, MPI_STATUS_IGNORE);
        MPI_Barrier(raw);
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      },
      [&] {
        auto request = isend(comm, out, next);
        recv(comm, in, previous);
        barrier(comm);
        EXPECT_TRUE(request.test().has_value());
      });
}

/// A strided View takes one kernel and one copy at each end, which are gone afterwards.
TEST_P(MessageCounting, StridedViews) {
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> array("array", 4, 5);
  const auto cost = cost_of([&] {
    sendrecv(comm, Kokkos::subview(array, Kokkos::ALL, 1), next, Kokkos::subview(array, Kokkos::ALL, 2),
             previous);
  });
  EXPECT_EQ(cost.mpi, (MpiCalls{{"MPI_Sendrecv", 1}}));
  for (const auto& label : cost.tools.allocations) EXPECT_EQ(label.rfind("comm/", 0), 0u) << label;
  EXPECT_EQ(std::count(cost.tools.kernels.begin(), cost.tools.kernels.end(), "comm/pack"), 1);
  EXPECT_EQ(std::count(cost.tools.kernels.begin(), cost.tools.kernels.end(), "comm/unpack"), 1);
}

/// Views that go nowhere are not packed.
TEST_P(MessageCounting, NoRank) {
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> array("array", 4, 5);
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
  int two = comm.rank() == 0 ? 2 : 0;
  if (comm.size() == 1) two = 0;
  const auto cost = cost_of([&] {
    if (two > 0) send_with_extents(comm, out, 1);
  });
  EXPECT_EQ(cost.mpi, two > 0 ? (MpiCalls{{"MPI_Send", 2}}) : MpiCalls{});
  for (int n = 0; n < 2 && comm.rank() == 1; ++n) EXPECT_EQ(recv_with_extents<Block>(comm, 0).size(), 20u);
}

} // namespace
} // namespace kontor::comm::test

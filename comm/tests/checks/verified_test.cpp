// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Check level `cross_rank` for messages: what does not fit, and what never comes.
#include "comm_test.hpp"

namespace kontor::comm::test {
namespace {

using LeftPlane = HostView<double**, Left>;

/// Each test with a communicator of its own: what is lost goes with it.
class Verified : public OnRing {
 protected:
  Verified() : OnRing({.check = CheckLevel::cross_rank}) {}
  void SetUp() override {
    if (ranks < 2) GTEST_SKIP() << "takes two ranks";
  }
  void TearDown() override { MPI_Barrier(MPI_COMM_WORLD); }

  /// Rank 0 sends the one, rank 1 receives into the other: both hear of it, in all four ways.
  template <class Sent, class Received>
  void expect_difference(const Sent& sent, const Received& received, const std::string& a, const std::string& b) {
    const auto text = " (tag 4): rank 0 sends View 'a', " + a + ", but rank 1 receives View 'b', " + b;
    if (rank == 0) {
      expect_error<Error>([&] { send(comm, sent, 1, 4); }, {"send to rank 1" + text});
      expect_error<Error>([&] { isend(comm, sent, 1, 4).wait(); }, {"isend to rank 1" + text});
      send(comm, Ints("fits", 3), 1, 4);
    }
    if (rank == 1) {
      expect_error<Error>([&] { irecv(comm, received, 0, 4).wait(); }, {"irecv from rank 0" + text});
      expect_error<Error>([&] { recv(comm, received, any_source, any_tag); },
                          {"recv from any rank (any tag)" + text.substr(text.find(':'))});
      recv(comm, Ints("fits", 3), 0, 4);
    }
  }
};

TEST_F(Verified, ScalarsSizesRanksExtentsAndLayouts) {
  expect_difference(Doubles("a", 3), HostView<std::int64_t*>("b", 3), "(3) double", "(3) int64");
  expect_difference(Doubles("a", 3), Doubles("b", 4), "(3) double", "(4) double");
  expect_difference(Doubles("a", 20), LeftPlane("b", 4, 5), "(20) double", "(4, 5) double");
  const std::string lies = "(4, 5) double with the ";
  expect_difference(LeftPlane("a", 4, 5), Plane("b", 4, 5), lies + "first index fastest",
                    lies + "last index fastest; an Exchange takes Views of different layouts");
}
/// MPI alone would report a truncated message, to the receiver only.
TEST_F(Verified, LongerThanExpected) {
#ifdef MPICH_NUMVERSION
  GTEST_SKIP() << "MPICH delivers nothing of a message that is too long, so its text is MPI's";
#endif
  expect_difference(Doubles("a", 300), Doubles("b", 4), "(300) double", "(4) double");
  expect_difference(Doubles("a", 300000), Doubles("b", 4), "(300000) double", "(4) double");
  if (rank > 1) return;
  const int other = 1 - rank;
  const Ints out("out", 3 + rank), in("in", 3);
  expect_error<Error>([&] { sendrecv(comm, out, other, in, other); },
                      {fmt::format("sendrecv {} rank {} (tag 0): rank 1 sends View 'out', (4) int32, but rank 0 "
                                   "receives View 'in', (3) int32",
                                   rank == 0 ? "from" : "to", other)});
}

TEST_F(Verified, WhatNeverComes) {
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank, .timeout = rank == 0 ? 0.5 : 20.});
  if (rank == 1) send(comm, Ints("another", 3), 0, 8);
  if (rank != 0) return;
  const auto late = [](const char* call, const char* view) {
    return fmt::format("rank 0: {} (tag 2) of View {} int32 is not complete within 0.5 s: ", call, view);
  };
  expect_error<Error>([&] { recv(comm, Ints("a", 3), 1, 2); },
                      {late("recv from rank 1", "'a', (3)") +
                       "rank 1 has not sent it; what has come is a message from rank 1 with tag 8"});
  recv(comm, Ints("another", 3), 1, 8);
  expect_error<Error>([&] { probe(comm, any_source, 3); },
                      {"rank 0: probe from any rank (tag 3): no message has come within 0.5 s"});
  std::vector<Request<Ints>> pool;
  pool.push_back(irecv(comm, Ints("a", 3), any_source, 2));
  expect_error<Error>([&] { wait_any(pool); }, {late("irecv from any rank", "'a', (3)") + "nobody has sent it"});
  const std::string unreceived = "rank 1 has not begun to receive it";
  expect_error<Error>([&] { send(comm, Ints("a", 3), 1, 2); }, {late("send to rank 1", "'a', (3)") + unreceived});
  auto request = isend(comm, Ints("b", 100000), 1, 2);
  expect_error<Error>([&] { request.wait(); }, {late("isend to rank 1", "'b', (100000)") + unreceived});
  EXPECT_TRUE(request.active()); // one may go on waiting
}

/// The receiver has begun to receive, and then does something else that the sender has to come to as well: legal, so no
/// error, and the sender goes on without the answer in the end.
TEST_F(Verified, BeganBeforeAnotherWait) {
  const Ints in("in", 3), first("first", 1);
  if (rank == 1) {
    auto request = irecv(comm, in, 0, 1);
    recv(comm, first, 0, 2);
    request.wait();
    request = irecv(comm, in, 0, 1);
    MPI_Recv(first.data(), 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    request.wait();
  }
  if (rank == 0) {
    send(comm, in, 1, 1);
    send(comm, first, 1, 2);
    send(comm, in, 1, 1);
    MPI_Send(first.data(), 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  }
}

/// A late answer, for which its sender no longer waits, does not answer a later send, even when MPI's tags begin again.
TEST_F(Verified, ALateAnswer) {
  constexpr int tags = 32768;
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank, .timeout = rank == 0 ? 1. : 20.});
  const Ints small("small", 3), large("large", 4);
  if (rank == 1) {
    auto request = irecv(comm, small, 0);
    MPI_Recv(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    request.wait(); // answers
    MPI_Send(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
    recv(comm, large, 0);
  }
  if (rank == 0) {
    send(comm, small, 1);
    MPI_Send(nullptr, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(nullptr, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int n = 1; n < tags; ++n) {
      auto request = isend(comm, small, 0);
      recv(comm, small, 0);
      request.wait();
    }
    EXPECT_EQ(text_of<Error>([&] { send(comm, large, 1); }), "no error");
  }
}

/// Waited for in another order than begun, with a wildcard among them: each meets the message that MPI says.
TEST_F(Verified, OrderOfReceives) {
  if (rank == 0)
    for (int n = 1; n <= 3; ++n) send(comm, Ints("out", n), 1);
  if (rank == 1) {
    auto first = irecv(comm, Ints("first", 1), any_source, any_tag);
    auto second = irecv(comm, Ints("second", 2), 0);
    auto third = irecv(comm, Ints("third", 3), any_source);
    third.wait();
    second.wait();
    first.wait();
  }
}

} // namespace
} // namespace kontor::comm::test

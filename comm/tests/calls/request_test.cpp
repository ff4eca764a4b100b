// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests: what they give back, and what is left of them.
#include "messages.hpp"

#include <optional>

namespace kontor::comm::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Levels, Requests, testing::ValuesIn(all_levels));

TEST_P(Requests, GiveTheirViewsBack) {
  auto receiving = irecv(comm, in, previous);
  EXPECT_TRUE(receiving.active());
  auto sending = isend(comm, HostView<const int*>(out), next);
  EXPECT_EQ(receiving.wait(), in);
  EXPECT_EQ(sending.wait(), out);
  EXPECT_EQ(in(2), previous);
  EXPECT_FALSE(receiving.active());
  EXPECT_FALSE(receiving.finished());
}

/// The caller may forget its own handle: the View lives until it is given back.
TEST_P(Requests, ShareOwnership) {
  auto receiving = irecv(comm, Ints("mine", 3), previous);
  auto sending = [&] {
    Ints temporary("temporary", 3);
    Kokkos::deep_copy(temporary, 7 + comm.rank());
    return isend(comm, temporary, next);
  }();
  const auto received = receiving.wait();
  EXPECT_EQ(received(2), 7 + previous);
  EXPECT_EQ(sending.wait().use_count(), 1);
}

template <class Emptied>
void expect_empty(Emptied& request) {
  const std::string text = " on an empty Request: it was never begun, was moved from, or has given its Views "
                           "back already";
  EXPECT_FALSE(request.active());
  EXPECT_EQ(text_of<CallError>([&] { request.wait(); }), "wait()" + text);
  EXPECT_EQ(text_of<CallError>([&] { request.test(); }), "test()" + text);
}

TEST_P(Requests, EmptyOnesSaySo) {
  Request<Ints> never;
  expect_empty(never);
  auto request = isendrecv(comm, out, next, in, previous);
  request.wait();
  expect_empty(request);
}

TEST_P(Requests, MoveLeavesNothing) {
  auto first = isendrecv(comm, out, next, in, previous);
  auto second = std::move(first);
  expect_empty(first); // NOLINT: what is left is defined
  Request<Ints, Ints> third;
  third = std::move(second);
  expect_empty(second); // NOLINT
  EXPECT_TRUE(third.active());
  const auto [sent, received] = third.wait();
  EXPECT_EQ(sent, out);
  EXPECT_EQ(received, in);
  EXPECT_EQ(in(0), previous);
}

TEST_P(Requests, TestUntilComplete) {
  auto request = isendrecv(comm, out, next, in, previous);
  std::optional<std::pair<Ints, Ints>> result;
  while (!result) result = request.test();
  EXPECT_EQ(result->second, in);
  EXPECT_EQ(in(1), previous);
  expect_empty(request);
}

/// Nothing is complete before it can be.
TEST_P(Requests, TestBeforeTheMessage) {
  auto receiving = irecv(comm, in, previous);
  EXPECT_FALSE(receiving.test().has_value());
  EXPECT_TRUE(receiving.active());
  MPI_Barrier(comm.native());
  send(comm, out, next);
  receiving.wait();
  EXPECT_EQ(in(1), previous);
}

std::string line_of(const Communicator& comm, const std::string& what) {
  return comm.options().check == CheckLevel::off
             ? std::string()
             : fmt::format("rank {}: {} of View 'dropped', (3) int32 was dropped unfinished: {}; call wait() "
                           "before\n",
                           comm.rank(), what.substr(0, what.find(';')), what.substr(what.find(';') + 1));
}

/// The receive is taken back: the message that comes later is another's.
TEST_P(Requests, DroppedReceiveIsCancelled) {
  testing::internal::CaptureStderr();
  { auto dropped = irecv(comm, Ints("dropped", 3), previous, 5); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            line_of(comm, fmt::format("irecv from rank {} (tag 5);it is cancelled", previous)));
  MPI_Barrier(comm.native());
  sendrecv(comm, out, next, in, previous, 5);
  EXPECT_EQ(in(1), previous);
}

/// The send goes on with its View, which nobody else holds any more.
TEST_P(Requests, DroppedSendGoesOn) {
  constexpr int big = 1 << 20; // longer than what MPI sends eagerly
  testing::internal::CaptureStderr();
  {
    Ints dropped("dropped", comm.options().check == CheckLevel::off ? big : 3);
    Kokkos::deep_copy(dropped, 9);
    auto request = isend(comm, dropped, next);
    if (request.test())
      testing::internal::GetCapturedStderr(), testing::internal::CaptureStderr();
    else
      request = {};
  }
  const auto text = testing::internal::GetCapturedStderr();
  if (!text.empty()) {
    EXPECT_EQ(text, line_of(comm, fmt::format("isend to rank {} (tag 0);it goes on and keeps its Views", next)));
  }
  Ints received("received", comm.options().check == CheckLevel::off ? big : 3);
  recv(comm, received, previous);
  EXPECT_EQ(received(received.size() - 1), 9);
}

/// The communicator goes first: its handle, that is.
TEST_P(Requests, OutliveTheirCommunicator) {
  auto own = std::make_optional<Communicator>(MPI_COMM_WORLD, comm.options());
  auto request = isendrecv(*own, out, next, in, previous);
  own.reset();
  request.wait();
  EXPECT_EQ(in(0), previous);
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests: what they give back, what is left of them, and many of them at once.
#include "error_text.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace kontor::comm::test {
namespace {

using Ints = Kokkos::View<int*, Kokkos::HostSpace>;

const std::string empty_text = " on an empty Request: it was never begun, was moved from, or has given its "
                               "Views back already";

/// Every test at every check level.
class Requests : public testing::TestWithParam<CheckLevel> {
 protected:
  static Options options() {
    Options options;
    options.check = GetParam();
    options.timeout = 10;
    return options;
  }
  Communicator comm{MPI_COMM_WORLD, options()};
  int previous = ring_of(comm).first;
  int next = ring_of(comm).second;
  Ints out{"out", 3};
  Ints in{"in", 3};

  void SetUp() override { Kokkos::deep_copy(out, comm.rank()); }
  void TearDown() override {
    MPI_Barrier(comm.native());
    expect_usable(comm);
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, Requests,
                         testing::Values(CheckLevel::off, CheckLevel::local, CheckLevel::cross_rank));

TEST_P(Requests, GiveTheirViewsBack) {
  auto receiving = irecv(comm, in, previous);
  EXPECT_TRUE(receiving.active());
  auto sending = isend(comm, Kokkos::View<const int*, Kokkos::HostSpace>(out), next);
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

TEST_P(Requests, EmptyOnesSaySo) {
  Request<Ints> never;
  EXPECT_EQ(text_of<CallError>([&] { never.wait(); }), "wait()" + empty_text);
  EXPECT_EQ(text_of<CallError>([&] { never.test(); }), "test()" + empty_text);
  auto request = isendrecv(comm, out, next, in, previous);
  request.wait();
  EXPECT_EQ(text_of<CallError>([&] { request.wait(); }), "wait()" + empty_text);
}

TEST_P(Requests, MoveLeavesNothing) {
  auto first = isendrecv(comm, out, next, in, previous);
  auto second = std::move(first);
  EXPECT_FALSE(first.active()); // NOLINT: what is left is defined
  EXPECT_EQ(text_of<CallError>([&] { first.wait(); }), "wait()" + empty_text);
  Request<Ints, Ints> third;
  third = std::move(second);
  EXPECT_FALSE(second.active()); // NOLINT
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
  EXPECT_EQ(text_of<CallError>([&] { request.test(); }), "test()" + empty_text);
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

TEST_P(Requests, WaitAllOfAFew) {
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> block("block", 4, 4);
  Kokkos::deep_copy(block, comm.rank());
  const auto column = Kokkos::subview(block, Kokkos::ALL, 1);
  auto receiving = irecv(comm, column, previous, 1);
  auto sending = isend(comm, Kokkos::subview(block, Kokkos::ALL, 2), next, 1);
  auto both = isendrecv(comm, out, next, in, previous);
  Request<Ints> empty;
  wait_all(receiving, sending, both, empty);
  EXPECT_TRUE(receiving.finished());
  EXPECT_FALSE(receiving.active());
  EXPECT_FALSE(empty.finished());
  EXPECT_EQ(column(3), previous); // a strided View has its data without being asked
  EXPECT_EQ(in(2), previous);
  EXPECT_EQ(receiving.wait().data(), column.data());
  sending.wait();
  EXPECT_EQ(both.wait().second, in);
}

constexpr int many = 1000;

/// More than the pool's memory on the stack.
std::vector<Request<Ints>> pool_of(const Communicator& comm, int previous, int next) {
  std::vector<Request<Ints>> pool;
  for (int i = 0; i < many; ++i) pool.push_back(irecv(comm, Ints("in", 2), previous, i));
  for (int i = many; i-- > 0;) { // in another order than they are received
    Ints out("out", 2);
    Kokkos::deep_copy(out, 10 * i + comm.rank());
    pool.push_back(isend(comm, out, next, i));
  }
  return pool;
}

void expect_pool(std::vector<Request<Ints>>& pool, int previous) {
  for (int i = 0; i < many; ++i) {
    EXPECT_TRUE(pool[i].finished());
    EXPECT_EQ(pool[i].wait()(1), 10 * i + previous);
  }
}

TEST_P(Requests, WaitAllOfMany) {
  auto pool = pool_of(comm, previous, next);
  wait_all(pool);
  wait_all(std::span(pool)); // nothing left to do
  expect_pool(pool, previous);
  wait_all(std::vector<Request<Ints>>());
}

TEST_P(Requests, WaitAnyOfMany) {
  auto pool = pool_of(comm, previous, next);
  std::set<std::size_t> seen;
  while (const auto i = wait_any(pool)) {
    EXPECT_TRUE(pool[*i].finished());
    EXPECT_TRUE(seen.insert(*i).second) << *i;
  }
  EXPECT_EQ(seen.size(), pool.size());
  expect_pool(pool, previous);
}

TEST_P(Requests, WaitSomeOfMany) {
  auto pool = pool_of(comm, previous, next);
  std::set<std::size_t> seen;
  for (auto some = wait_some(pool); !some.empty(); some = wait_some(pool))
    for (const auto i : some) EXPECT_TRUE(pool[i].finished() && seen.insert(i).second) << i;
  EXPECT_EQ(seen.size(), pool.size());
  expect_pool(pool, previous);
}

/// One of two parts is not yet all.
TEST_P(Requests, WaitAnyOfExchanges) {
  std::vector<Request<Ints, Ints>> pool;
  for (int tag = 0; tag < 3; ++tag) pool.push_back(isendrecv(comm, out, next, Ints("in", 3), previous, tag));
  EXPECT_TRUE(wait_any(std::span(pool).last(1)).has_value());
  EXPECT_EQ(pool[2].wait().second(2), previous);
  EXPECT_TRUE(wait_any(pool).has_value());
  EXPECT_TRUE(wait_any(pool).has_value());
  EXPECT_FALSE(wait_any(pool).has_value());
  EXPECT_TRUE(pool[0].finished() && pool[1].finished());
}

/// Each of many tells of its own message.
TEST_P(Requests, StatusOfEach) {
  const auto pool = [&] {
    std::vector<Request<Ints>> requests;
    for (int tag = 0; tag < 3; ++tag) requests.push_back(irecv(comm, Ints("in", 2 + tag), any_source, tag));
    for (int tag = 3; tag-- > 0;) requests.push_back(isend(comm, Ints("out", 2 + tag), next, tag));
    return requests;
  };
  const auto expect = [&](std::vector<Request<Ints>>& requests) {
    for (int tag = 0; tag < 3; ++tag) {
      const auto status = requests[tag].status();
      EXPECT_EQ(status.source, previous);
      EXPECT_EQ(status.tag, tag);
      EXPECT_EQ(status.count<int>(), 2 + tag);
      requests[tag].wait();
      EXPECT_EQ(requests[tag].status().tag, tag);
    }
    const auto moved = std::move(requests[1]);
    EXPECT_EQ(moved.status().tag, 1);
    EXPECT_NE(text_of<CallError>([&] { requests[1].status(); }),
              "no error"); // NOLINT: what is left is defined
    EXPECT_NE(text_of<CallError>([&] { requests[3].status(); }), "no error"); // it sends
  };
  auto all = pool();
  EXPECT_NE(text_of<CallError>([&] { all[0].status(); }), "no error"); // not complete
  wait_all(all);
  expect(all);
  auto any = pool();
  while (wait_any(any)) {
  }
  expect(any);
  auto some = pool();
  while (!wait_some(some).empty()) {
  }
  expect(some);
  auto tested = pool();
  while (!test_all(tested)) {
  }
  expect(tested);
  auto tested_any = pool();
  for (int n = 0; n < 6;) n += test_any(tested_any) ? 1 : 0;
  expect(tested_any);
  auto both = isendrecv(comm, out, next, in, any_source, 4);
  both.wait();
  EXPECT_EQ(both.status().source, previous);
  EXPECT_EQ(both.status().count<int>(), 3);
}

/// Requests of Views of several types.
TEST_P(Requests, AnyOfAFew) {
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> block("block", 4, 4);
  auto first = irecv(comm, in, previous, 1);
  auto second = irecv(comm, Kokkos::subview(block, Kokkos::ALL, 1), previous, 2);
  Request<> empty;
  EXPECT_FALSE(test_all(first, second, empty));
  EXPECT_FALSE(test_any(first, second, empty).has_value());
  MPI_Barrier(comm.native());
  auto sending = isend(comm, Kokkos::subview(block, Kokkos::ALL, 2), next, 2);
  EXPECT_EQ(wait_any(first, second), std::optional<std::size_t>(1));
  EXPECT_TRUE(second.finished());
  EXPECT_FALSE(test_any(first, second).has_value()); // what is finished is no longer active
  MPI_Barrier(comm.native());
  auto other = isend(comm, out, next, 1);
  while (!test_all(first, second, sending, other)) {
  }
  EXPECT_TRUE(first.finished() && sending.finished() && other.finished());
  EXPECT_EQ(in(1), previous);
  EXPECT_TRUE(test_all(first, empty));
  EXPECT_FALSE(wait_any(first, second, empty).has_value());
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
    EXPECT_EQ(text,
              line_of(comm, fmt::format("isend to rank {} (tag 0);it goes on and keeps its Views", next)));
  }
  Ints received("received", comm.options().check == CheckLevel::off ? big : 3);
  recv(comm, received, previous);
  EXPECT_EQ(received(received.size() - 1), 9);
}

/// The communicator goes first: its handle, that is.
TEST_P(Requests, OutliveTheirCommunicator) {
  auto own = std::make_optional<Communicator>(MPI_COMM_WORLD, options());
  auto request = isendrecv(*own, out, next, in, previous);
  own.reset();
  request.wait();
  EXPECT_EQ(in(0), previous);
}

} // namespace
} // namespace kontor::comm::test

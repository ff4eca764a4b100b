// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many Requests at once: waits and tests of all, of any and of some.
#include "messages.hpp"

#include <optional>
#include <set>
#include <span>

namespace kontor::comm::test {
namespace {

using RequestPools = Requests;
INSTANTIATE_TEST_SUITE_P(Levels, RequestPools, testing::ValuesIn(all_levels));

TEST_P(RequestPools, WaitAllOfAFew) {
  Plane block("block", 4, 4);
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

TEST_P(RequestPools, ManyAtOnce) {
  auto all = pool_of(comm, previous, next);
  wait_all(all);
  wait_all(std::span(all)); // nothing left to do
  expect_pool(all, previous);
  wait_all(std::vector<Request<Ints>>());

  std::set<std::size_t> seen;
  auto any = pool_of(comm, previous, next);
  while (const auto i = wait_any(any)) EXPECT_TRUE(any[*i].finished() && seen.insert(*i).second) << *i;
  EXPECT_EQ(seen.size(), any.size());
  expect_pool(any, previous);

  seen.clear();
  auto some = pool_of(comm, previous, next);
  for (auto found = wait_some(some); !found.empty(); found = wait_some(some))
    for (const auto i : found) EXPECT_TRUE(some[i].finished() && seen.insert(i).second) << i;
  EXPECT_EQ(seen.size(), some.size());
  expect_pool(some, previous);
}

/// One of two parts is not yet all.
TEST_P(RequestPools, WaitAnyOfExchanges) {
  std::vector<Request<Ints, Ints>> pool;
  for (int tag = 0; tag < 3; ++tag) pool.push_back(isendrecv(comm, out, next, Ints("in", 3), previous, tag));
  EXPECT_TRUE(wait_any(std::span(pool).last(1)).has_value());
  EXPECT_EQ(pool[2].wait().second(2), previous);
  EXPECT_TRUE(wait_any(pool).has_value());
  EXPECT_TRUE(wait_any(pool).has_value());
  EXPECT_FALSE(wait_any(pool).has_value());
  EXPECT_TRUE(pool[0].finished() && pool[1].finished());
}

/// Each of many tells of its own message, however it is completed.
TEST_P(RequestPools, StatusOfEach) {
  using Pool = std::vector<Request<Ints>>;
  const auto expect = [&](const char* way, void (*complete)(Pool&)) {
    SCOPED_TRACE(way);
    Pool requests;
    for (int tag = 0; tag < 3; ++tag) requests.push_back(irecv(comm, Ints("in", 2 + tag), any_source, tag));
    EXPECT_NE(text_of<CallError>([&] { requests[0].status(); }), "no error"); // not complete
    for (int tag = 3; tag-- > 0;) requests.push_back(isend(comm, Ints("out", 2 + tag), next, tag));
    complete(requests);
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
              "no error");                                                    // NOLINT: what is left is defined
    EXPECT_NE(text_of<CallError>([&] { requests[3].status(); }), "no error"); // it sends
  };
  expect("wait_all", [](Pool& pool) { wait_all(pool); });
  expect("wait_any", [](Pool& pool) {
    while (wait_any(pool)) {
    }
  });
  expect("wait_some", [](Pool& pool) {
    while (!wait_some(pool).empty()) {
    }
  });
  expect("test_all", [](Pool& pool) {
    while (!test_all(pool)) {
    }
  });
  expect("test_any", [](Pool& pool) {
    for (int n = 0; n < 6;) n += test_any(pool) ? 1 : 0;
  });
  expect("test_some", [](Pool& pool) {
    for (std::size_t n = 0; n < 6;) n += test_some(pool).size();
    EXPECT_TRUE(test_some(pool).empty());
  });
  auto both = isendrecv(comm, out, next, in, any_source, 4);
  both.wait();
  EXPECT_EQ(both.status().source, previous);
  EXPECT_EQ(both.status().count<int>(), 3);
}

/// Requests of Views of several types.
TEST_P(RequestPools, AnyOfAFew) {
  const Plane block("block", 4, 4);
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

} // namespace
} // namespace kontor::comm::test

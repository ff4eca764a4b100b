// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests: what they give back, what is left of them, and many at once.
#include "comm_test.hpp"

#include <numeric>
#include <set>

namespace kontor::comm::test {
namespace {

class Requests : public AtLevel {
 protected:
  Ints out{"out", 3};
  Ints in{"in", 3};
  int sum_of_ranks = ranks * (ranks - 1) / 2;

  void SetUp() override { Kokkos::deep_copy(out, rank); }
  void TearDown() override {
    MPI_Barrier(comm.native());
    expect_usable(comm);
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, Requests, testing::ValuesIn(all_levels));

template <class Emptied>
void expect_empty(Emptied& request) {
  const std::string text = "() on an empty Request: it was never begun, was moved from, or has given its Views back";
  EXPECT_FALSE(request.active());
  expect_error<CallError>([&] { request.wait(); }, {"wait" + text});
  expect_error<CallError>([&] { request.test(); }, {"test" + text});
}

/// Whoever was moved from, or has given its Views back, is empty.
TEST_P(Requests, GiveTheirViewsBackOnce) {
  Request<Ints> never;
  expect_empty(never);
  auto first = iallreduce(comm, out, in, ReduceOp::sum);
  auto second = std::move(first);
  expect_empty(first); // NOLINT: what is left is defined
  Request<Ints, Ints> third;
  third = std::move(second);
  expect_empty(second); // NOLINT
  EXPECT_TRUE(third.active());
  std::optional<std::pair<Ints, Ints>> result;
  while (!result) result = third.test();
  EXPECT_EQ(*result, std::pair(out, in));
  EXPECT_EQ(in(0), sum_of_ranks);
  expect_empty(third);
  third = iallreduce(comm, out, in, ReduceOp::sum);
  EXPECT_EQ(third.wait(), std::pair(out, in));
  expect_empty(third);
}

/// The caller may forget its own handle: the View lives until it is given back.
TEST_P(Requests, ShareOwnershipAndCommunicator) {
  auto receiving = irecv(comm, Ints("mine", 3), previous);
  EXPECT_TRUE(receiving.active());
  auto sending = [&] {
    Ints temporary("temporary", 3);
    Kokkos::deep_copy(temporary, 7 + comm.rank());
    return isend(comm, HostView<const int*>(temporary), next);
  }();
  const auto received = receiving.wait();
  EXPECT_EQ(received(2), 7 + previous);
  EXPECT_FALSE(receiving.active() || receiving.finished());
  EXPECT_EQ(sending.wait().use_count(), 1);
  // The communicator goes first: its handle, that is.
  auto own = std::make_optional<Communicator>(MPI_COMM_WORLD, comm.options());
  auto request = iallreduce(*own, out, in, ReduceOp::sum);
  own.reset();
  request.wait();
  EXPECT_EQ(in(0), sum_of_ranks);
  auto later = irecv(comm, in, previous);
  EXPECT_FALSE(later.test().has_value());
  EXPECT_TRUE(later.active());
  MPI_Barrier(comm.native());
  send(comm, out, next);
  later.wait();
  EXPECT_EQ(in(1), previous);
}

/// What is told of a Request that is dropped, but without checks.
std::string told_of(const Communicator& comm, const std::string& call, const char* then) {
  if (comm.options().check == CheckLevel::off) return "";
  return fmt::format("rank {}: {} of View 'dropped', (3) int32 was dropped unfinished: {}; call wait() before\n",
                     comm.rank(), call, then);
}

/// The receive is taken back: the message that comes later is another's.
TEST_P(Requests, DroppedReceiveIsCancelled) {
  testing::internal::CaptureStderr();
  { auto dropped = irecv(comm, Ints("dropped", 3), previous, 5); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            told_of(comm, fmt::format("irecv from rank {} (tag 5)", previous), "it is cancelled"));
  MPI_Barrier(comm.native());
  sendrecv(comm, out, next, in, previous, 5);
  EXPECT_EQ(in(1), previous);
}

/// The send goes on with its View, which nobody else holds any more.
TEST_P(Requests, DroppedSendGoesOn) {
  const int size = comm.options().check == CheckLevel::off ? 1 << 20 : 3; // longer than what MPI sends eagerly
  testing::internal::CaptureStderr();
  bool unfinished = false;
  {
    Ints dropped("dropped", size);
    Kokkos::deep_copy(dropped, 9);
    auto request = isend(comm, dropped, next);
    unfinished = !request.test();
  }
  const auto text = testing::internal::GetCapturedStderr();
  const auto told = told_of(comm, fmt::format("isend to rank {} (tag 0)", next), "it goes on and keeps its Views");
  EXPECT_TRUE(text.empty() || (unfinished && text == told)) << text;
  Ints received("received", size);
  recv(comm, received, previous);
  EXPECT_EQ(received(received.size() - 1), 9);
}

/// Of several types, with a strided View and a Request that is empty.
TEST_P(Requests, AFewTogether) {
  const Plane block("block", 4, 4);
  Kokkos::deep_copy(block, rank);
  const auto column = [&](int j) { return Kokkos::subview(block, Kokkos::ALL, j); };
  auto first = irecv(comm, in, previous, 1);
  auto second = irecv(comm, column(1), previous, 2);
  Request<> empty;
  EXPECT_FALSE(test_all(first, second, empty));
  MPI_Barrier(comm.native());
  auto sending = isend(comm, column(2), next, 2);
  EXPECT_EQ(wait_any(first, second), std::optional<std::size_t>(1));
  EXPECT_TRUE(second.finished() && !second.active());
  EXPECT_EQ(block(3, 1), previous); // a strided View has its data without being asked
  MPI_Barrier(comm.native());
  auto other = isend(comm, out, next, 1);
  while (!test_all(first, second, sending, other)) {
  }
  EXPECT_TRUE(first.finished() && sending.finished() && other.finished());
  EXPECT_EQ(in(1), previous);
  EXPECT_TRUE(test_all(first, empty));
  EXPECT_FALSE(wait_any(first, second, empty).has_value());
  auto both = iallreduce(comm, out, in, ReduceOp::sum);
  wait_all(first, both, empty);
  EXPECT_FALSE(empty.finished());
  EXPECT_EQ(both.wait().second(2), sum_of_ranks);
}

/// Each of a few, or of more than a pool keeps on the stack, is completed once, has its data, and tells of its message.
TEST_P(Requests, ManyAtOnce) {
  using Pool = std::vector<Request<Ints>>;
  using Found = std::vector<std::size_t>;
  const auto all = [](const Pool& pool) {
    Found found(pool.size());
    std::iota(found.begin(), found.end(), 0);
    return found;
  };
  const std::function<Found(Pool&)> ways[] = {
      [&](Pool& pool) { return wait_all(pool), all(pool); },
      [](Pool& pool) {
        const auto found = wait_any(pool);
        return found ? Found{*found} : Found();
      },
      [&](Pool& pool) { return test_all(pool) ? all(pool) : Found(); },
  };
  const auto size = [](int tag) { return 2 + tag % 3; };
  for (const auto& complete : ways)
    for (const int many : {3, 300}) {
      SCOPED_TRACE(&complete - ways);
      Pool pool;
      for (int tag = 0; tag < many; ++tag) pool.push_back(irecv(comm, Ints("in", size(tag)), any_source, tag));
      EXPECT_NE(text_of<CallError>([&] { pool[0].status(); }), "no error"); // not complete
      for (int tag = many; tag-- > 0;) {                                    // in another order than they are received
        const Ints sent("sent", size(tag));
        Kokkos::deep_copy(sent, 10 * tag + rank);
        pool.push_back(isend(comm, sent, next, tag));
      }
      std::set<std::size_t> seen;
      while (seen.size() < pool.size())
        for (const auto i : complete(pool)) EXPECT_TRUE(pool[i].finished() && seen.insert(i).second) << i;
      EXPECT_FALSE(wait_any(pool).has_value());
      for (int tag = 0; tag < many; ++tag) {
        expect_status(pool[tag].status(), previous, tag, size(tag) * sizeof(int));
        EXPECT_EQ(pool[tag].wait()(1), 10 * tag + previous);
        EXPECT_EQ(pool[tag].status().tag, tag);
      }
      const auto moved = std::move(pool[1]);
      EXPECT_EQ(moved.status().tag, 1);
      for (const int none : {1, many}) // moved from, and a send
        EXPECT_NE(text_of<CallError>([&] { pool[none].status(); }), "no error");
    }
  wait_all(Pool());
}

/// Messages that are too long, and one that is not: what fails is never given back as good, what is good keeps its
/// status.
TEST_P(Requests, EachThatFailsThrowsItsError) {
  using Pool = std::vector<Request<Ints>>;
  void (*const ways[])(Pool&) = {[](Pool& pool) { wait_all(pool); }, [](Pool& pool) { wait_any(pool); },
                                 [](Pool& pool) { test_all(pool); }};
  if (ranks == 1) GTEST_SKIP() << "Open MPI does not report such messages of a rank to itself";
  const bool checked = GetParam() == CheckLevel::cross_rank;
  const Ints longer("longer", 10);
  for (const auto& way : ways) {
    SCOPED_TRACE(&way - ways);
    Pool pool, sent;
    for (int tag = 0; tag < 3; ++tag) {
      pool.push_back(irecv(comm, Ints("in", 3), previous, tag));
      sent.push_back(isend(comm, tag == 1 ? out : longer, next, tag));
    }
    MPI_Barrier(comm.native());
    int errors = 0;
    while (std::ranges::any_of(pool, [](const auto& request) { return request.active(); })) try {
        way(pool);
      } catch (const Error&) {
        ++errors;
      }
    EXPECT_GT(errors, 0);
    for (const int tag : {0, 2, 2}) {
      const auto wait = [&] { pool[tag].wait(); };
      const auto facts = {fmt::format("rank {} (tag {})", previous, tag)};
      checked ? expect_error<Error>(wait, facts) : expect_error<MpiError>(wait, facts);
      EXPECT_FALSE(pool[tag].active());
    }
    expect_status(pool[1].status(), previous, 1, 3 * sizeof(int));
    EXPECT_EQ(pool[1].wait()(2), previous);
    for (int tag = 0; tag < 3; ++tag) try {
        sent[tag].wait();
      } catch (const Error&) {
        EXPECT_TRUE(checked && tag != 1);
      }
  }
}

} // namespace
} // namespace kontor::comm::test

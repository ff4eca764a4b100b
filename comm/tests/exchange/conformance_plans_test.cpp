// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Empty messages, several plans, the life of a plan.
#include "each_method.hpp"

namespace kontor::comm::test {
namespace {

using Plans = OnRing;

template <class Place>
using ExchangeAt = Exchange<Kokkos::View<double*, typename std::decay_t<Place>::Space>>;

auto leg_up(const Communicator& comm) {
  const auto [previous, next] = ring_of(comm);
  const Index<2> extents{3, 4};
  return Leg{inside<double, Left>("a", extents), next, whole<double, Right>("b", extents), previous};
}

TEST_F(Plans, EmptyMessages) {
  expect_ring(whole<double, Left>("a", Index<2>{0, 4}), inside<double, Right>("b", Index<2>{0, 4}),
              inside<double, Left>("c", Index<2>{3, 0}), whole<double, Stride>("d", Index<2>{3, 0}), Contiguity::yes);
  expect_ring(inside<double, Left>("a", Index<2>{3, 4}), whole<double, Right>("b", Index<2>{3, 4}),
              whole<double, Right>("c", Index<3>{0, 0, 0}), whole<double, Left>("d", Index<3>{0, 0, 0}));
}

/// Two plans between the same ranks, both under way: the messages of one must not land in the other.
TEST_F(Plans, TwoAtOnce) {
  with_every_method([](const Communicator& comm, auto& place) {
    auto first = leg_up(comm);
    auto second = leg_up(comm);
    ExchangeAt<decltype(place)> one(comm, "one");
    ExchangeAt<decltype(place)> two(comm, "two");
    first.add_to(one, place);
    second.add_to(two, place);
    one.commit();
    two.commit();
    for (int step = 0; step < 3; ++step) {
      first.prepare(comm, step, 0);
      second.prepare(comm, step, 1);
      place.load();
      one.start();
      run_step(two);
      one.finish();
      place.store();
      first.check();
      second.check();
    }
  });
}

/// A message of the same tag, to the same rank and on its way before.
TEST_F(Plans, MeetNoMessages) {
  with_options(methods(Contiguity::yes), [&](const Communicator& comm) {
    const Ints out("out", 1), in("in", 1), message("message", 1), received("received", 1);
    out(0) = rank;
    message(0) = 100 + rank;
    auto exchange = ring_exchange(comm, "exchange", out, in);
    auto sending = isend(comm, message, next);
    run_step(exchange);
    recv(comm, received, previous);
    sending.wait();
    EXPECT_EQ(in(0), previous);
    EXPECT_EQ(received(0), 100 + previous);
  });
}

/// The exchange shares its Views and its communicator, which may go out of scope before it does.
TEST_F(Plans, OutliveTheirViewsAndCommunicator) {
  std::optional<Exchange<Ints>> exchange;
  HostView<int**, Left> in("in", 3, 2);
  int expected = 0;
  {
    const Communicator comm(MPI_COMM_WORLD);
    const auto [previous, next] = ring_of(comm);
    const HostView<int**, Right> out("out", 3, 2);
    Kokkos::deep_copy(out, comm.rank());
    expected = previous;
    exchange.emplace(comm, "cached_communicator");
    exchange->add(HostView<const int**, Right>(out), next, in, previous);
    exchange->commit();
  }
  auto moved = std::move(*exchange);
  exchange.reset();
  run_step(moved);
  EXPECT_EQ(in(2, 1), expected);
}

/// A plan that goes while its messages travel, by destruction and by move assignment. The messages are too big to leave
/// the sender before the receiver takes them.
TEST_F(Plans, DroppedInFlight) {
  with_every_method([](const Communicator& kept, auto& place) {
    using Plane = Kokkos::View<double**, Right, typename std::decay_t<decltype(place)>::Space>;
    const Communicator comm(MPI_COMM_WORLD, kept.options());
    const auto make = [&] {
      const Plane out("out", 60, 401), in("in", 60, 401);
      const auto strip = [](const Plane& plane) { return Kokkos::subview(plane, Kokkos::ALL(), std::pair(0, 400)); };
      return ring_exchange(comm, "dropped", strip(out), strip(in));
    };
    make().start();
    auto exchange = make();
    exchange.start();
    exchange = make();
    run_step(exchange);
    expect_usable(comm);
  });
}

TEST_F(Plans, CommittedAgain) {
  with_every_method([](const Communicator& comm, auto& place) {
    auto first = leg_up(comm);
    auto second = leg_up(comm);
    std::swap(second.source, second.destination); // the other way
    ExchangeAt<decltype(place)> exchange(comm, "growing");
    first.add_to(exchange, place);
    exchange.commit();
    second.add_to(exchange, place);
    exchange.commit();
    first.prepare(comm, 0, 0);
    second.prepare(comm, 0, 1);
    run_step_at(place, exchange);
    first.check();
    second.check();
  });
}

TEST_F(Plans, StartedAndFinishedOutOfTurn) {
  Exchange<Ints> exchange(comm, "early");
  const auto expect = [](const auto& call, const std::string& text) {
    expect_error<CallError>(call, {"exchange 'early': " + text});
  };
  const auto start = [&] { exchange.start(); };
  expect(start, "commit() comes before start() and finish()");
  exchange.commit();
  expect([&] { exchange.finish(); }, "finish() without start()");
  expect([&] { exchange.test(); }, "test() without start()");
  exchange.start();
  expect(start, "start() again before finish()");
  expect([&] { exchange.commit(); }, "commit() between start() and finish()");
  exchange.finish();
  exchange.add(Ints("out", 1), no_rank, Ints("in", 1), no_rank);
  expect(start, "add() after commit(): commit() again before start()");
  exchange.commit();
  run_step(exchange);
}

/// Of an exchange without slots, which takes its steps as well.
TEST_F(Plans, TimesAreMeasuredOnRequest) {
  Exchange<Ints> exchange(comm, "timed");
  exchange.commit();
  run_step(exchange);
  EXPECT_EQ(exchange.times().exchanges, 0);
  EXPECT_EQ(exchange.times().total(), 0);
  exchange.measure_times();
  run_step(exchange);
  EXPECT_EQ(exchange.times().exchanges, 1);
  const auto seconds = exchange.times().total();
  EXPECT_GT(seconds, 0);
  exchange.measure_times(false);
  run_step(exchange);
  EXPECT_EQ(exchange.times().total(), seconds);
}

} // namespace
} // namespace kontor::comm::test

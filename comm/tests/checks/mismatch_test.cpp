// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ends, rows and cells that do not fit: the same error of commit() on every rank, and nobody waits for ever.
#include "comm_test.hpp"

#include <functional>

namespace kontor::comm::test {
namespace {

/// The last rank does it differently.
class Mismatch : public OnRing {
 protected:
  const std::string hint = "; slots are matched by number, so all ranks add them in the same order";
  int before_last = last > 0 ? last - 1 : 0;
  Plane out{"out", 4, 5};
  Plane in{"in", 4, 5};
  Doubles x{"x", 20};

  using Add = std::function<void(Exchange<Doubles>&)>;

  /// commit() of an exchange to which add(exchange) adds is this error, or none.
  template <class E = AgreedError>
  void refused(const Add& add, std::initializer_list<std::string> facts) const {
    Exchange<Doubles> exchange(comm, "ring");
    add(exchange);
    expect_error<E>([&] { exchange.commit(); }, facts);
  }
  void accepted(const Add& add) const {
    Exchange<Doubles> exchange(comm, "ring");
    add(exchange);
    EXPECT_NO_THROW(exchange.commit());
  }
  template <class Send, class Receive>
  static auto slot(const Send& send, int destination, const Receive& receive, int source) {
    return [=](auto& exchange) { exchange.add(send, destination, receive, source); };
  }
  template <class Sent, class Received>
  auto rows(const Sent& sent, const Received& received) const {
    return [=, this](auto& exchange) { exchange.add(x, sent, next, x, received, previous); };
  }
  static Ints list(const std::vector<int>& indices) {
    const Ints made("list", indices.size());
    std::ranges::copy(indices, made.data());
    return made;
  }
  std::string place() const { return fmt::format("exchange 'ring', slot 0: on rank {}, View 'x'", last); }
  /// What is wrong with slot 0 if `receiver` gets the plane of `sender` into the View.
  static std::string differ(int sender, int receiver, const std::string& view) {
    return fmt::format("exchange 'ring', slot 0: rank {} sends View 'out', (4, 5) double, but rank {} receives View {}",
                       sender, receiver, view);
  }
  /// What is wrong with a slot that one end only has; `verb`: "sends to" or "receives from".
  static std::string one_end(int slot, int rank, const char* verb, int peer, const char* other) {
    return fmt::format("exchange 'ring', slot {}: rank {} {} rank {} (View '{}', (4, 5) double), which does not {}",
                       slot, rank, verb, peer, *verb == 's' ? "out" : "in", other);
  }
  static std::string no_peer(int rank, int peer) {
    return fmt::format("rank {} names rank {} as its peer; ranks are 0 to {}", rank, peer, world_size() - 1);
  }

  void TearDown() override { expect_usable(comm); }
};

TEST_F(Mismatch, ExtentsRankAndScalar) {
  const Plane wide("wrong", 4, 6);
  refused(slot(out, next, is_last ? wide : in, previous), {differ(before_last, last, "'wrong', (4, 6) double")});
  refused(
      [&](auto& exchange) {
        is_last ? exchange.add(out, next, Doubles("wrong", 20), previous) : exchange.add(out, next, in, previous);
      },
      {differ(before_last, last, "'wrong', (20) double")});
  // Labels longer than the handshake carries are cut, not overrun.
  refused(slot(out, next, is_last ? Plane(std::string(100, 'x'), 4, 6) : in, previous),
          {differ(before_last, last, "'" + std::string(63, 'x') + "', (4, 6) double")});
  // Every rank sees a mismatch of its own; all report the same one.
  refused(slot(out, next, Plane(fmt::format("wrong {}", rank), 4, 6), previous),
          {differ(last, 0, "'wrong 0', (4, 6) double")});
  if (ranks == 1) return; // one exchange has one scalar type
  const HostView<float**, Right> floats("wrong", 4, 5);
  refused(
      [&](auto& exchange) {
        is_last ? exchange.add(floats, no_rank, floats, previous)
                : exchange.add(out, next, in, rank > 0 ? previous : no_rank);
      },
      {differ(before_last, last, "'wrong', (4, 5) float")});
  expect_error<AgreedError>(
      [&] { handshake(comm, "ring", {}, is_last ? MemoryKind::device : MemoryKind::host); },
      {"exchange 'ring'", "in host memory on rank 0", fmt::format("in device memory on rank {}", last)});
}

TEST_F(Mismatch, OneEndOnly) {
  refused(slot(out, next, in, is_last ? no_rank : previous),
          {one_end(0, before_last, "sends to", last, "receive it there"), hint});
  refused(slot(out, is_last ? no_rank : next, in, previous),
          {one_end(0, 0, "receives from", last, "send it there"), hint});
  refused(
      [&](auto& exchange) {
        exchange.add(out, next, in, previous);
        if (is_last) exchange.add(out, 0, in, no_rank);
      },
      {one_end(1, last, "sends to", 0, "receive it there"), hint});
  // One end by slot, the other by pair: they do not find each other.
  refused(
      [&](auto& exchange) {
        exchange.add_send(out, next);
        if (is_last) exchange.add(out, no_rank, in, previous);
        if (!is_last) exchange.add_receive(in, previous);
      },
      {fmt::format("rank {} receives from rank {} (View 'in'", last, before_last)});
}

TEST_F(Mismatch, PeerOutOfRange) {
  for (const int nobody : {ranks, -7}) {
    const auto expected = "exchange 'ring', slot 0: " + no_peer(last, nobody);
    refused(slot(out, is_last ? nobody : next, in, previous), {expected});
    refused(slot(out, next, in, is_last ? nobody : previous), {expected});
  }
  refused([&](auto& exchange) { exchange.add_send(out, is_last ? ranks : no_rank); },
          {fmt::format("exchange 'ring', message 1 to rank {}: ", ranks) + no_peer(last, ranks)});
}

TEST_F(Mismatch, OtherNumbersOfSlots) {
  // Slots that nothing travels through harm nobody, and the tags of later plans still agree.
  accepted([&](auto& exchange) {
    exchange.add(out, next, in, previous);
    if (is_last) exchange.add(out, no_rank, in, no_rank);
  });
  if (ranks < 3) return;
  // The case that slots cannot do: each rank has one for each of the others, in the order of ranks.
  const auto add_all = [&](bool by_slot) {
    return [&, by_slot](auto& exchange) {
      for (int r = 0; r < ranks; ++r) {
        const Plane received("received", 4, 5);
        if (r == rank) continue;
        if (by_slot) exchange.add(out, r, received, r);
        if (!by_slot) exchange.add_send(out, r), exchange.add_receive(received, r);
      }
    };
  };
  refused(add_all(true), {hint});
  accepted(add_all(false));
}

/// Slots that fit, in another order: labels tell at check level `cross_rank`.
TEST_F(Mismatch, OrderOfSlots) {
  if (ranks == 1) return;
  const Plane second("second", 4, 5), second_in("second in", 4, 5);
  const auto add = [&](auto& exchange) {
    if (!is_last) exchange.add(out, next, in, previous);
    exchange.add(second, next, second_in, previous);
    if (is_last) exchange.add(out, next, in, previous);
  };
  accepted(add);
  comm = Communicator(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank});
  refused(add,
          {"exchange 'ring'" + (":" + hint.substr(1)) + ": rank 0 gives 'out' into 'in', 'second' into 'second in'",
           fmt::format("but rank {} gives 'second' into 'second in', 'out' into 'in'", last)});
}

/// The last rank sends a message more, or receives one more, than its partner knows of, or in another order.
TEST_F(Mismatch, MessagesOfAPair) {
  const Plane more("more", 4, 5), wide("wide", 4, 6), wide_in("wide in", 4, 6);
  for (const bool sends : {true, false}) {
    const int from = sends ? last : before_last, to = sends ? 0 : last;
    refused(
        [&](auto& exchange) {
          exchange.add_send(out, next);
          exchange.add_receive(in, previous);
          if (is_last && sends) exchange.add_send(out, next);
          if (is_last && !sends) exchange.add_receive(more, previous);
        },
        {fmt::format("exchange 'ring': rank {} sends {} to rank {} by add_send()", from,
                     sends ? "2 messages" : "1 message", to),
         fmt::format("rank {} receives {} from rank {} by add_receive()", to, sends ? 1 : 2, from)});
  }
  refused(
      [&](auto& exchange) {
        exchange.add_send(out, next);
        exchange.add_send(wide, next);
        exchange.add_receive(is_last ? wide_in : in, previous);
        exchange.add_receive(is_last ? in : wide_in, previous);
      },
      {fmt::format("exchange 'ring', message 1 of 2 from rank {0} to rank {1}: rank {0} sends View 'out'", before_last,
                   last),
       fmt::format("rank {} receives View 'wide in', (4, 6) double", last)});
}

TEST_F(Mismatch, Packing) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  const auto where = [](int rank, const std::string& view) {
    return fmt::format("exchange 'ring': on rank {}, View {} does not lie in one piece in the order of the message, "
                       "and packing is 'none'; choose packing 'kernel', or contiguous Views of equal layout",
                       rank, view);
  };
  const HostView<double*, Stride> column(Kokkos::subview(out, Kokkos::ALL(), 1)), plain(Doubles("plain", 4));
  refused<UsageError>(slot(is_last ? column : plain, next, Doubles("whole", 4), previous),
                      {where(last, "'out', (4) double, to rank 0")});
  refused<UsageError>(slot(out, next, HostView<double**, Left>("left", 4, 5), previous),
                      {where(0, fmt::format("'left', (4, 5) double, from rank {}", last))});
  // Lists are not looked at without checks, ranges are.
  refused<UsageError>(rows(is_last ? list({3, 1}) : list({3, 4}), std::pair(10, 12)),
                      {fmt::format("on rank {}, View 'x', (2) double, to rank 0", last), "packing is 'none'"});
  comm = Communicator(MPI_COMM_WORLD, {.check = CheckLevel::off});
  accepted(rows(std::pair(0, 3), list({12, 11, 11})));
  refused(rows(std::pair(0, 3), std::pair(18, 21)), {"from 18 to before 21"});
}

TEST_F(Mismatch, Rows) {
  for (const int wrong : {20, -1}) {
    refused(rows(list({3, 1, is_last ? wrong : 5}), std::pair(10, 13)),
            {place(), "is sent to rank 0", "index list 'list'", fmt::format("{} at position 2", wrong), "0 to 19"});
    refused(rows(std::pair(0, 3), list({12, is_last ? wrong : 17, 11})),
            {place(), fmt::format("receives from rank {}", before_last), fmt::format("{} at position 1", wrong)});
  }
  // As good as contiguous, but for the last one.
  refused(rows(is_last ? list({18, 19, 20}) : list({1, 2, 3}), std::pair(10, 13)), {place(), "20 at position 2"});
  refused(rows(std::pair(0, 3), is_last ? std::pair(18, 21) : std::pair(17, 20)),
          {place(), "receives from", "from 18 to before 21", "20"});
  refused(rows(is_last ? std::pair(3, 0) : std::pair(0, 3), std::pair(17, 20)),
          {place(), "is sent to", "from 3 to before 0"});
  refused(rows(std::pair(0, 4), is_last ? list({11, 17, 13, 17}) : list({11, 17, 13, 18})),
          {place(), "receives from", "index list 'list'", "17 at positions 1 and 3"});
  accepted(rows(list({5, 7, 5, 5}), std::pair(10, 14))); // sent twice
  refused(
      [&](auto& exchange) {
        for (const int wrong : {2, 22}) exchange.add_send(x, list({4, is_last ? wrong : 2}), next);
        exchange.add_receive(x, std::pair(8, 10), previous);
        exchange.add_receive(x, std::pair(10, 12), previous);
      },
      {fmt::format("exchange 'ring', message 2 to rank 0: on rank {}", last), "22 at position 1"});
  refused(rows(list({3, 1, 5}), is_last ? std::pair(10, 14) : std::pair(10, 13)),
          {"exchange 'ring', slot 0", "(3) double", "rows by index", "(4) double"});
}

/// The last rank receives twice, or sends what it receives: rows by index, and parts of a plane.
TEST_F(Mismatch, ViewsThatShareCells) {
  const auto on_last = fmt::format("exchange 'ring': on rank {}", last);
  refused(
      [&](auto& exchange) {
        exchange.add(x, list({1, 0}), next, x, list({15, 12}), previous);
        exchange.add(x, list({4, 2}), next, x, is_last ? list({12, 14}) : list({11, 14}), previous);
      },
      {on_last, "they share cells", "index list 'list'", "receives from"});
  refused(rows(list({is_last ? 13 : 3, 0}), std::pair(12, 14)),
          {on_last, "they share cells", "is sent to", "receives from"});
  accepted([&](auto& exchange) { // interleaved
    exchange.add(x, list({1, 5}), next, x, list({4, 0}), previous);
    exchange.add(x, list({5, 1}), next, x, list({6, 2}), previous);
  });
  const Plane third("third", 4, 5);
  const auto row = [](const Plane& plane, int i) { return Kokkos::subview(plane, i, Kokkos::ALL); };
  const auto column = [](const Plane& plane, int j) { return Kokkos::subview(plane, std::pair(0, 4), j); };
  const auto twice = [&](auto& exchange) {
    exchange.add(row(out, 0), next, row(in, 0), previous);
    exchange.add(row(out, 1), next, row(in, is_last ? 0 : 1), previous);
  };
  const auto both_ways = [&](auto& exchange) {
    exchange.add(column(is_last ? in : out, 2), next, column(third, 0), previous);
    exchange.add(row(out, 1), next, row(in, 1), previous);
  };
  const auto expected = [&](int slot, const std::string& other, const char* bytes) {
    return on_last + fmt::format(", slot {}, View 'in', (5) double, receives from rank {}, and {}: they share cells "
                                 "(bytes {}, from the first of both)",
                                 slot, before_last, other, bytes);
  };
  refused(twice, {expected(0, fmt::format("slot 1, View 'in', (5) double, receives from rank {}", before_last),
                           "0 to 39 and 0 to 39")});
  refused(both_ways, {expected(1, "slot 0, View 'in', (4) double, is sent to rank 0", "24 to 63 and 0 to 127")});
  accepted([&](auto& exchange) { // side by side
    for (int j = 0; j < 3; ++j) exchange.add(column(in, 3), next, column(in, j), previous);
    exchange.add(column(in, 0), no_rank, column(in, 3), no_rank); // neither
  });
  comm = Communicator(MPI_COMM_WORLD, {.check = CheckLevel::off});
  accepted(twice);
}

TEST_F(Mismatch, OneViewThatSharesCells) {
  using Strided = HostView<double**, Stride>;
  const Doubles storage("storage", 24);
  const Stride apart(3, 4, 4, 1);
  const auto into = [&](const Stride& of_last) {
    return slot(Strided(storage.data(), apart), next, Strided(storage.data() + 12, is_last ? of_last : apart),
                previous);
  };
  accepted(into(apart));
  for (const int stride : {1, 0})
    refused(into(Stride(3, stride, 4, 1)),
            {"exchange 'ring'", fmt::format("on rank {}", last), "(3, 4) double, receives", "share memory",
             fmt::format("(strides {}, 1)", stride)});
}

} // namespace
} // namespace kontor::comm::test

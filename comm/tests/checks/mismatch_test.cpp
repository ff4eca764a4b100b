// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two ends of a message that do not fit: the same error on every rank, and nobody waits for ever.
#include "comm_test.hpp"

namespace kontor::comm::test {
namespace {

/// The last rank does it differently.
class Mismatch : public OnRing {
 protected:
  static constexpr const char* hint = "; slots are matched by number, so all ranks add them in the same order";
  int before_last = last > 0 ? last - 1 : 0;
  Plane out{"out", 4, 5};
  Plane in{"in", 4, 5};

  template <class E = AgreedError, class Send, class Receive>
  std::string text(const Send& send, int destination, const Receive& receive, int source) {
    Exchange<Send> exchange(comm, "ring");
    exchange.add(send, destination, receive, source);
    return text_of<E>([&] { exchange.commit(); });
  }
  /// With what `add` gives the exchange.
  template <class Add>
  std::string text_of_all(const Add& add) {
    Exchange<Doubles> exchange(comm, "ring");
    add(exchange);
    return text_of<AgreedError>([&] { exchange.commit(); });
  }
  /// What is wrong with slot 0 if `receiver` gets the plane of `sender` into the View.
  static std::string differ(int sender, int receiver, const std::string& view) {
    return fmt::format("exchange 'ring', slot 0: rank {} sends View 'out', (4, 5) double, but rank {} "
                       "receives View {}",
                       sender, receiver, view);
  }
  static std::string no_peer(int rank, int peer) {
    return fmt::format("rank {} names rank {} as its peer; ranks are 0 to {}", rank, peer, world_size() - 1);
  }

  void TearDown() override { expect_usable(comm); }
};

TEST_F(Mismatch, ExtentsRankAndScalar) {
  const Plane wide("wrong", 4, 6);
  EXPECT_EQ(text(out, next, is_last ? wide : in, previous), differ(before_last, last, "'wrong', (4, 6) double"));
  EXPECT_EQ(is_last ? text(out, next, Doubles("wrong", 20), previous) : text(out, next, in, previous),
            differ(before_last, last, "'wrong', (20) double"));
  if (comm.size() == 1) return; // one exchange has one scalar type
  const HostView<float**, Right> floats("wrong", 4, 5);
  EXPECT_EQ(is_last ? text(floats, no_rank, floats, previous)
                    : text(out, next, in, comm.rank() > 0 ? previous : no_rank),
            differ(before_last, last, "'wrong', (4, 5) float"));
}

TEST_F(Mismatch, MissingReceive) {
  expect_facts(text(out, next, in, is_last ? no_rank : previous),
               {fmt::format("exchange 'ring', slot 0: rank {} sends to rank {} (View 'out', (4, 5) double), "
                            "which does not receive it there",
                            before_last, last),
                hint});
}

TEST_F(Mismatch, MissingSend) {
  expect_facts(text(out, is_last ? no_rank : next, in, previous),
               {fmt::format("exchange 'ring', slot 0: rank 0 receives from rank {} (View 'in', (4, 5) double), "
                            "which does not send it there",
                            last),
                hint});
}

TEST_F(Mismatch, PeerOutOfRange) {
  for (const int nobody : {comm.size(), -7}) {
    const auto expected = "exchange 'ring', slot 0: " + no_peer(last, nobody);
    expect_facts(text(out, is_last ? nobody : next, in, previous), {expected});
    expect_facts(text(out, next, in, is_last ? nobody : previous), {expected});
  }
}

TEST_F(Mismatch, OneSlotMoreThanTheOthers) {
  expect_facts(text_of_all([&](auto& exchange) {
                 exchange.add(out, next, in, previous);
                 if (is_last) exchange.add(out, 0, in, no_rank);
               }),
               {fmt::format("exchange 'ring', slot 1: rank {} sends to rank 0 (View 'out', (4, 5) double), "
                            "which does not receive it there",
                            last),
                hint});
}

/// The case that slots cannot do: each rank has one for each of the others, in the order of ranks.
TEST_F(Mismatch, OneSlotForEachNeighbour) {
  if (comm.size() < 3) return;
  const auto add_all = [&](bool by_slot) {
    return [&, by_slot](auto& exchange) {
      for (int r = 0; r < comm.size(); ++r) {
        const Plane received("received", 4, 5);
        if (r == rank) continue;
        if (by_slot) exchange.add(out, r, received, r);
        if (!by_slot) exchange.add_send(out, r), exchange.add_receive(received, r);
      }
    };
  };
  expect_facts(text_of_all(add_all(true)), {hint});
  EXPECT_EQ(text_of_all(add_all(false)), "no error");
}

/// The last rank sends a message more, and then receives one more, than its partner knows of.
TEST_F(Mismatch, UnequalCountsOfAPair) {
  const Plane more("more", 4, 5);
  for (const bool sends : {true, false}) {
    const auto text = text_of_all([&](auto& exchange) {
      exchange.add_send(out, next);
      exchange.add_receive(in, previous);
      if (is_last && sends) exchange.add_send(out, next);
      if (is_last && !sends) exchange.add_receive(more, previous);
    });
    const int from = sends ? last : before_last, to = sends ? 0 : last;
    expect_facts(text, {fmt::format("exchange 'ring': rank {} sends {} to rank {} by add_send()", from,
                                    sends ? "2 messages" : "1 message", to),
                        fmt::format("rank {} receives {} from rank {} by add_receive()", to, sends ? 1 : 2, from)});
  }
}

TEST_F(Mismatch, OrderOfAPair) {
  const Plane wide("wide", 4, 6), wide_in("wide in", 4, 6);
  const auto text = text_of_all([&](auto& exchange) {
    exchange.add_send(out, next);
    exchange.add_send(wide, next);
    exchange.add_receive(is_last ? wide_in : in, previous);
    exchange.add_receive(is_last ? in : wide_in, previous);
  });
  expect_facts(text, {fmt::format("exchange 'ring', message 1 of 2 from rank {} to rank {}", before_last, last),
                      fmt::format("rank {} sends View 'out', (4, 5) double", before_last),
                      fmt::format("rank {} receives View 'wide in', (4, 6) double", last)});
}

/// One end by slot, the other by pair: they do not find each other.
TEST_F(Mismatch, SlotAndPair) {
  const auto text = text_of_all([&](auto& exchange) {
    exchange.add_send(out, next);
    if (is_last) exchange.add(out, no_rank, in, previous);
    if (!is_last) exchange.add_receive(in, previous);
  });
  expect_facts(text, {fmt::format("rank {} receives from rank {} (View 'in'", last, before_last)});
}

TEST_F(Mismatch, PeerOutOfRangeByPair) {
  const int nobody = is_last ? ranks : no_rank;
  expect_facts(text_of_all([&](auto& exchange) { exchange.add_send(out, nobody); }),
               {"exchange 'ring': " + no_peer(last, ranks)});
}

/// Slots that nothing travels through harm nobody, and the tags of later plans still agree.
TEST_F(Mismatch, OneEmptySlotMoreIsAllowed) {
  Exchange<Doubles> exchange(comm, "ring");
  exchange.add(out, next, in, previous);
  if (is_last) exchange.add(out, no_rank, in, no_rank);
  EXPECT_NO_THROW(exchange.commit());
  run_step(exchange);
}

/// Every rank sees a mismatch of its own; all report the same one.
TEST_F(Mismatch, OnEveryRank) {
  const Plane wrong(fmt::format("wrong {}", comm.rank()), 4, 6);
  EXPECT_EQ(text(out, next, wrong, previous), differ(last, 0, "'wrong 0', (4, 6) double"));
}

/// Labels longer than the handshake carries are cut, not overrun.
TEST_F(Mismatch, LongLabel) {
  const Plane wrong(std::string(100, 'x'), 4, 6);
  EXPECT_EQ(text(out, next, is_last ? wrong : in, previous),
            differ(before_last, last, "'" + std::string(63, 'x') + "', (4, 6) double"));
}

TEST_F(Mismatch, PackingNone) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  const auto refused = [](int rank, const std::string& view) {
    return fmt::format("exchange 'ring': on rank {}, View {} does not lie in one piece in the order of the "
                       "message, and packing is 'none'; choose packing 'kernel', or contiguous Views of equal "
                       "layout at both ends",
                       rank, view);
  };
  const HostView<double*, Stride> column(Kokkos::subview(out, Kokkos::ALL(), 1)), plain(Doubles("plain", 4));
  EXPECT_EQ(text<UsageError>(is_last ? column : plain, next, Doubles("whole", 4), previous),
            refused(last, "'out', (4) double, to rank 0"));
  const HostView<double**, Left> left("left", 4, 5);
  EXPECT_EQ(text<UsageError>(out, next, left, previous),
            refused(0, fmt::format("'left', (4, 5) double, from rank {}", last)));
}

TEST_F(Mismatch, PackingDatatypeOnRaw) {
  const auto text = text_of<UsageError>([] { Communicator(MPI_COMM_WORLD, method("raw", Packing::datatype)); });
  expect_facts(text, {"backend 'raw' takes contiguous buffers only", "packing 'datatype' is not possible",
                      "choose packing 'kernel'", "or backend view"});
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two ends of a message that do not fit: the same error on every rank, and nobody waits for ever.
#include "error_text.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

template <class T>
using Array = Kokkos::View<T*, Kokkos::HostSpace>;
template <class T>
using Plane = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using DoublesExchange = Exchange<Array<double>>;

/// All ranks in a ring; the last one does it differently.
class Mismatch : public testing::Test {
 protected:
  static constexpr const char* hint = "; slots are matched by number, so all ranks add them in the same "
                                      "order; where they cannot, add_send() and "
                                      "add_receive() are matched by pair of ranks";
  Communicator comm{MPI_COMM_WORLD};
  int last = comm.size() - 1;
  int before_last = last > 0 ? last - 1 : 0;
  bool is_last = comm.rank() == last;
  int previous = ring_of(comm).first;
  int next = ring_of(comm).second;
  Plane<double> out{"out", 4, 5};
  Plane<double> in{"in", 4, 5};

  template <class E = AgreedError, class T, class Send, class Receive>
  std::string text(const Send& send, int destination, const Receive& receive, int source) {
    Exchange<Array<T>> exchange(comm, "ring");
    exchange.add(send, destination, receive, source);
    return text_of<E>([&] { exchange.commit(); });
  }

  void TearDown() override { expect_usable(comm); }
};

TEST_F(Mismatch, Extents) {
  const Plane<double> wrong("wrong", 4, 6);
  EXPECT_EQ(
      (text<AgreedError, double>(out, next, is_last ? wrong : in, previous)),
      fmt::format("exchange 'ring', slot 0: rank {} sends View 'out', (4, 5) double, but rank {} receives "
                  "View 'wrong', (4, 6) double",
                  before_last, last));
}

TEST_F(Mismatch, Rank) {
  const Array<double> wrong("wrong", 20);
  const auto found = is_last ? text<AgreedError, double>(out, next, wrong, previous)
                             : text<AgreedError, double>(out, next, in, previous);
  EXPECT_EQ(found,
            fmt::format("exchange 'ring', slot 0: rank {} sends View 'out', (4, 5) double, but rank {} "
                        "receives View 'wrong', (20) double",
                        before_last, last));
}

TEST_F(Mismatch, Scalar) {
  const Plane<float> wrong_out("wrong", 4, 5), wrong_in("wrong", 4, 5);
  if (comm.size() == 1) return; // one exchange has one scalar type
  const auto found = is_last ? text<AgreedError, float>(wrong_out, no_rank, wrong_in, previous)
                             : text<AgreedError, double>(out, next, in, comm.rank() > 0 ? previous : no_rank);
  EXPECT_EQ(found,
            fmt::format("exchange 'ring', slot 0: rank {} sends View 'out', (4, 5) double, but rank {} "
                        "receives View 'wrong', (4, 5) float",
                        before_last, last));
}

TEST_F(Mismatch, MissingReceive) {
  EXPECT_EQ(
      (text<AgreedError, double>(out, next, in, is_last ? no_rank : previous)),
      fmt::format("exchange 'ring', slot 0: rank {} sends to rank {} (View 'out', (4, 5) double), which "
                  "does not receive it there{}",
                  before_last, last, hint));
}

TEST_F(Mismatch, MissingSend) {
  EXPECT_EQ(
      (text<AgreedError, double>(out, is_last ? no_rank : next, in, previous)),
      fmt::format("exchange 'ring', slot 0: rank 0 receives from rank {} (View 'in', (4, 5) double), which "
                  "does not send it there{}",
                  last, hint));
}

TEST_F(Mismatch, PeerOutOfRange) {
  for (const int nobody : {comm.size(), -7}) {
    const auto expected = fmt::format(
        "exchange 'ring', slot 0: rank {} names rank {} as its peer; ranks are 0 to {}, and no_rank "
        "says there is none",
        last, nobody, last);
    EXPECT_EQ((text<AgreedError, double>(out, is_last ? nobody : next, in, previous)), expected);
    EXPECT_EQ((text<AgreedError, double>(out, next, in, is_last ? nobody : previous)), expected);
  }
}

TEST_F(Mismatch, OneSlotMoreThanTheOthers) {
  DoublesExchange exchange(comm, "ring");
  exchange.add(out, next, in, previous);
  if (is_last) exchange.add(out, 0, in, no_rank);
  EXPECT_EQ(
      text_of<AgreedError>([&] { exchange.commit(); }),
      fmt::format("exchange 'ring', slot 1: rank {} sends to rank 0 (View 'out', (4, 5) double), which does "
                  "not receive it there{}",
                  last, hint));
}

/// The case that slots cannot do: each rank has one for each of the others, in the order of ranks.
TEST_F(Mismatch, OneSlotForEachNeighbour) {
  if (comm.size() < 3) return;
  const auto add_all = [&](const auto& add) {
    for (int r = 0; r < comm.size(); ++r)
      if (r != comm.rank()) add(r);
  };
  std::vector<Plane<double>> received;
  DoublesExchange by_slot(comm, "graph");
  add_all([&](int r) { by_slot.add(out, r, received.emplace_back("received", 4, 5), r); });
  const auto text = text_of<AgreedError>([&] { by_slot.commit(); });
  EXPECT_TRUE(text.ends_with(hint)) << text;
  DoublesExchange by_pair(comm, "graph");
  add_all([&](int r) {
    by_pair.add_send(out, r);
    by_pair.add_receive(received.emplace_back("received", 4, 5), r);
  });
  EXPECT_EQ(text_of<AgreedError>([&] { by_pair.commit(); }), "no error");
}

/// The last rank sends a message more, and then receives one more, than its partner knows of.
TEST_F(Mismatch, UnequalCountsOfAPair) {
  const Plane<double> more("more", 4, 5);
  DoublesExchange sends(comm, "graph");
  sends.add_send(out, next);
  sends.add_receive(in, previous);
  if (is_last) sends.add_send(out, next);
  EXPECT_EQ(text_of<AgreedError>([&] { sends.commit(); }),
            fmt::format(
                "exchange 'graph': rank {0} sends 2 messages to rank 0 by add_send(), but rank 0 receives 1 "
                "from rank {0} by add_receive(); both must add equally many, in the same order",
                last));
  DoublesExchange receives(comm, "graph");
  receives.add_send(out, next);
  receives.add_receive(in, previous);
  if (is_last) receives.add_receive(more, previous);
  EXPECT_EQ(text_of<AgreedError>([&] { receives.commit(); }),
            fmt::format(
                "exchange 'graph': rank {0} sends 1 message to rank {1} by add_send(), but rank {1} receives "
                "2 from rank {0} by add_receive(); both must add equally many, in the same order",
                before_last, last));
}

TEST_F(Mismatch, OrderOfAPair) {
  const Plane<double> wide("wide", 4, 6), wide_in("wide in", 4, 6);
  DoublesExchange exchange(comm, "graph");
  exchange.add_send(out, next);
  exchange.add_send(wide, next);
  if (is_last) {
    exchange.add_receive(wide_in, previous);
    exchange.add_receive(in, previous);
  } else {
    exchange.add_receive(in, previous);
    exchange.add_receive(wide_in, previous);
  }
  EXPECT_EQ(
      text_of<AgreedError>([&] { exchange.commit(); }),
      fmt::format(
          "exchange 'graph', message 1 of 2 from rank {0} to rank {1}: rank {0} sends View 'out', (4, 5) "
          "double, but rank {1} receives View 'wide in', (4, 6) double",
          before_last, last));
}

/// One end by slot, the other by pair: they do not find each other.
TEST_F(Mismatch, SlotAndPair) {
  DoublesExchange exchange(comm, "mixed");
  exchange.add_send(out, next);
  if (is_last)
    exchange.add(out, no_rank, in, previous);
  else
    exchange.add_receive(in, previous);
  const auto text = text_of<AgreedError>([&] { exchange.commit(); });
  EXPECT_NE(text.find(fmt::format("rank {} receives from rank {} (View 'in'", last, before_last)),
            std::string::npos)
      << text;
}

TEST_F(Mismatch, PeerOutOfRangeByPair) {
  DoublesExchange exchange(comm, "graph");
  exchange.add_send(out, is_last ? comm.size() : no_rank);
  EXPECT_EQ(
      text_of<AgreedError>([&] { exchange.commit(); }),
      fmt::format("exchange 'graph': rank {} names rank {} as its peer; ranks are 0 to {}, and no_rank says "
                  "there is none",
                  last, comm.size(), last));
}

/// Slots that nothing travels through harm nobody, and the tags of later plans still agree.
TEST_F(Mismatch, OneEmptySlotMoreIsAllowed) {
  DoublesExchange exchange(comm, "ring");
  exchange.add(out, next, in, previous);
  if (is_last) exchange.add(out, no_rank, in, no_rank);
  EXPECT_EQ(text_of<AgreedError>([&] { exchange.commit(); }), "no error");
  exchange.start();
  exchange.finish();
}

/// Every rank sees a mismatch of its own; all report the same one.
TEST_F(Mismatch, OnEveryRank) {
  const Plane<double> wrong(fmt::format("wrong {}", comm.rank()), 4, 6);
  const int sender = last;
  EXPECT_EQ(
      (text<AgreedError, double>(out, next, wrong, previous)),
      fmt::format("exchange 'ring', slot 0: rank {} sends View 'out', (4, 5) double, but rank 0 receives "
                  "View 'wrong 0', (4, 6) double",
                  sender));
}

/// Labels longer than the handshake carries are cut, not overrun.
TEST_F(Mismatch, LongLabel) {
  const Plane<double> wrong(std::string(100, 'x'), 4, 6);
  EXPECT_EQ(
      (text<AgreedError, double>(out, next, is_last ? wrong : in, previous)),
      fmt::format("exchange 'ring', slot 0: rank {} sends View 'out', (4, 5) double, but rank {} receives "
                  "View '{}', (4, 6) double",
                  before_last, last, std::string(63, 'x')));
}

TEST_F(Mismatch, PackingNoneWithStridedView) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  const Array<double> whole("whole", 4), other("other", 4);
  const Kokkos::View<double*, Kokkos::LayoutStride, Kokkos::HostSpace> column(
      Kokkos::subview(out, Kokkos::ALL(), 1));
  const Kokkos::View<double*, Kokkos::LayoutStride, Kokkos::HostSpace> plain(other);
  EXPECT_EQ(
      (text<UsageError, double>(is_last ? column : plain, next, whole, previous)),
      fmt::format("exchange 'ring': on rank {}, View 'out', (4) double, to rank 0 does not lie in one "
                  "piece in the order of the message, and packing is 'none'; choose packing 'kernel', or "
                  "contiguous Views of equal layout at both ends",
                  last));
}

TEST_F(Mismatch, PackingNoneWithUnequalLayouts) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 4, 5);
  EXPECT_EQ((text<UsageError, double>(out, next, left, previous)),
            fmt::format("exchange 'ring': on rank 0, View 'left', (4, 5) double, from rank {} does not lie "
                        "in one piece in the order of the message, and packing is 'none'; choose packing "
                        "'kernel', or contiguous Views of equal layout at both ends",
                        last));
}

TEST_F(Mismatch, PackingDatatypeOnRaw) {
  const auto text =
      text_of<UsageError>([] { Communicator(MPI_COMM_WORLD, method("raw", Packing::datatype)); });
  for (const auto* fact :
       {"backend 'raw' takes contiguous buffers only", "packing 'datatype' is not possible",
        "choose packing 'kernel'", "or backend view"})
    EXPECT_NE(text.find(fact), std::string::npos) << text;
}

/// The last rank receives twice, or sends what it receives.
TEST_F(Mismatch, SharedCells) {
  const Plane<double> third("third", 4, 5);
  const auto commit = [&](const auto& add, const Communicator& with) {
    Exchange<Array<double>> exchange(with, "ring");
    add(exchange);
    exchange.commit();
  };
  const auto row = [](const Plane<double>& plane, int i) { return Kokkos::subview(plane, i, Kokkos::ALL); };
  const auto column = [](const Plane<double>& plane, int j) {
    return Kokkos::subview(plane, std::pair(0, 4), j);
  };
  const auto twice = [&](auto& exchange) {
    exchange.add(row(out, 0), next, row(in, 0), previous);
    exchange.add(row(out, 1), next, row(in, is_last ? 0 : 1), previous);
  };
  const auto both_ways = [&](auto& exchange) {
    exchange.add(column(is_last ? in : out, 2), next, column(third, 0), previous);
    exchange.add(row(out, 1), next, row(in, 1), previous);
  };
  const auto reason =
      ": they share cells, and what receives in a step may not be sent in it, nor receive twice";
  EXPECT_EQ(
      text_of<AgreedError>([&] { commit(twice, comm); }),
      fmt::format("exchange 'ring': on rank {0}, View 'in', (5) double, receives from rank {1}, and View "
                  "'in', (5) double, receives from rank {1}{2}",
                  last, before_last, reason));
  EXPECT_EQ(text_of<AgreedError>([&] { commit(both_ways, comm); }),
            fmt::format("exchange 'ring': on rank {}, View 'in', (5) double, receives from rank {}, and View "
                        "'in', (4) double, is sent to rank 0{}",
                        last, before_last, reason));
  const auto side_by_side = [&](auto& exchange) {
    for (int j = 0; j < 3; ++j) exchange.add(column(in, 3), next, column(in, j), previous);
    exchange.add(column(in, 0), no_rank, column(in, 3), no_rank); // neither
  };
  EXPECT_NO_THROW(commit(side_by_side, comm));
  Options unchecked;
  unchecked.check = CheckLevel::off;
  EXPECT_NO_THROW(commit(twice, Communicator(MPI_COMM_WORLD, unchecked)));
}

/// Of one View, elements that lie upon each other.
TEST_F(Mismatch, ElementsShareMemory) {
  using Strided = Kokkos::View<double**, Kokkos::LayoutStride, Kokkos::HostSpace>;
  const Array<double> storage("storage", 24);
  const Kokkos::LayoutStride apart(3, 4, 4, 1);
  const auto commit = [&](const Kokkos::LayoutStride& of_last) {
    Exchange<Strided> exchange(comm, "ring");
    exchange.add(Strided(storage.data(), apart), next,
                 Strided(storage.data() + 12, is_last ? of_last : apart), previous);
    exchange.commit();
  };
  EXPECT_NO_THROW(commit(apart));
  for (const auto& [layout, strides] : {std::pair(Kokkos::LayoutStride(3, 1, 4, 1), "(strides 1, 1)"),
                                        std::pair(Kokkos::LayoutStride(3, 0, 4, 1), "(strides 0, 1)")}) {
    const auto text = text_of<AgreedError>([&] { commit(layout); });
    for (const auto& fact :
         {std::string("exchange 'ring'"), fmt::format("on rank {}", last),
          std::string("(3, 4) double, receives"), std::string("share memory"), std::string(strides)})
      EXPECT_NE(text.find(fact), std::string::npos) << fact << " in: " << text;
  }
}

} // namespace
} // namespace kontor::comm::test

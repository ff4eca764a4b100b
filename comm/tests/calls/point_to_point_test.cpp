// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed messages of Views of any rank and layout.
#include "messages.hpp"

namespace kontor::comm::test {

void expect_delivered(Delivery delivery, std::initializer_list<Call> calls) {
  with_levels(all_levels, [&](const Communicator& comm) {
    for (const bool periodic : {true, false}) {
      const auto [previous, next] = ring_of(comm, periodic);
      int step = 0;
      for (const auto& call : calls) {
        SCOPED_TRACE("call " + std::to_string(step) + (periodic ? ", periodic" : ", closed"));
        delivery.prepare(comm.native(), next, previous, step++, 0);
        call(comm, next, previous);
        delivery.check();
      }
    }
  });
}

namespace {

template <class T, class Layout, std::size_t rank>
void expect_delivered(const Index<rank>& extents) {
  expect_delivered(whole<T, Layout>("out", extents), whole<T, Layout>("in", extents));
  expect_delivered(inside<T, Layout>("out", extents), inside<T, Layout>("in", extents));
}

/// Of Views of many ranks.
template <class T, class Layout, std::size_t rank>
void expect_delivered_by_both(const Index<rank>& extents) {
  expect_delivered_by_both(whole<T, Layout>("out", extents), whole<T, Layout>("in", extents));
  expect_delivered_by_both(inside<T, Layout>("out", extents), inside<T, Layout>("in", extents));
}

template <class T, std::size_t rank>
void expect_all_layouts(const Index<rank>& extents) {
  expect_delivered<T, Left>(extents);
  expect_delivered<T, Right>(extents);
  expect_delivered<T, Stride>(extents);
}

TEST(PointToPoint, RanksAndLayouts) {
  expect_delivered<double, Right>(Index<0>{});
  expect_all_layouts<double>(Index<1>{7});
  expect_all_layouts<double>(Index<2>{4, 5});
  expect_all_layouts<double>(Index<2>{0, 5});
  expect_delivered<int, Left>(Index<3>{2, 3, 4});
  expect_delivered_by_both<double, Left>(Index<4>{2, 3, 1, 2});
  expect_delivered_by_both<float, Right>(Index<5>{2, 1, 3, 2, 2});
  expect_delivered_by_both<int, Left>(Index<6>{2, 1, 3, 2, 1, 2});
  expect_delivered_by_both<double, Right>(Index<7>{2, 1, 2, 2, 1, 2, 2});
  expect_delivered_by_both<double, Left>(Index<8>{2, 1, 2, 2, 1, 2, 2, 1});
  expect_delivered_by_both<double, Right>(Index<8>{2, 1, 2, 2, 1, 2, 2, 1});
}
TEST(PointToPoint, ManyElements) { // more than any eager message
  expect_delivered<double, Right>(Index<2>{60, 400});
}

/// Extents of 1 have strides that mean nothing: one piece is one piece.
TEST(PointToPoint, OneColumnIsContiguous) {
  const Communicator comm(MPI_COMM_WORLD, {.packing = Packing::none});
  const auto [previous, next] = ring_of(comm);
  const HostView<double**, Left> block("block", 4, 3);
  const auto column = Kokkos::subview(block, std::pair(0, 4), std::pair(1, 2));
  Kokkos::deep_copy(column, comm.rank());
  sendrecv(comm, column, next, Kokkos::subview(block, std::pair(0, 4), std::pair(2, 3)), previous);
  EXPECT_EQ(block(3, 2), previous);
}

/// Views that may be read only are sent, and those that own nothing are sent and receive.
template <class View>
void expect_flavours(const Communicator& comm, const View& out, const View& in) {
  using Const = Kokkos::View<typename View::const_data_type, typename View::array_layout, Kokkos::HostSpace>;
  using Unmanaged = Kokkos::View<typename View::data_type, typename View::array_layout, Kokkos::HostSpace,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto [previous, next] = ring_of(comm);
  const auto expect_in = [&, previous = previous](int offset) {
    EXPECT_EQ(in(2), previous + offset);
    Kokkos::deep_copy(in, -1);
    Kokkos::deep_copy(out, comm.rank() + offset + 1);
  };
  Kokkos::deep_copy(out, comm.rank());
  sendrecv(comm, Const(out), next, Unmanaged(in), previous);
  expect_in(0);
  auto receiving = irecv(comm, Unmanaged(in), previous);
  send(comm, Const(out), next);
  receiving.wait();
  expect_in(1);
  auto sending = isend(comm, Const(out), next);
  recv(comm, Unmanaged(in), previous);
  sending.wait();
  expect_in(2);
  isendrecv(comm, Const(Unmanaged(out)), next, in, previous).wait();
  expect_in(3);
}
TEST(PointToPoint, ConstAndUnmanagedViews) {
  const Communicator comm(MPI_COMM_WORLD);
  const HostView<int**, Right> block("block", 4, 3);
  expect_flavours(comm, Ints("out", 3), Ints("in", 3));
  expect_flavours(comm, Kokkos::subview(block, Kokkos::ALL, 0), Kokkos::subview(block, Kokkos::ALL, 2));
}

/// To send from and receive into parts of one array.
TEST(PointToPoint, FixedExtents) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const HostView<int* [2][3], Right> array("array", 4);
  Kokkos::deep_copy(array, comm.rank());
  sendrecv(comm, Kokkos::subview(array, 0, Kokkos::ALL, Kokkos::ALL), next,
           Kokkos::subview(array, 3, Kokkos::ALL, Kokkos::ALL), previous);
  EXPECT_EQ(array(2, 1, 2), comm.rank());
  EXPECT_EQ(array(3, 1, 2), previous);
  EXPECT_EQ(extents(array), (std::array<std::size_t, 3>{4, 2, 3}));
  EXPECT_EQ(extents(HostView<int>("number")), (std::array<std::size_t, 0>{}));
}

/// What a receive tells of its message: in a ring, and of messages from everybody to rank 0, as they come.
TEST(PointToPoint, AnyRankAndTag) {
  with_levels(all_levels, [](const Communicator& comm) {
    const Ints message("message", 2);
    const auto [previous, next] = ring_of(comm);
    const auto status = sendrecv(comm, message, next, message, any_source, 7);
    EXPECT_EQ(status.source, previous);
    EXPECT_EQ(status.tag, 7);
    EXPECT_EQ(status.count<int>(), 2);
    const auto none = recv(comm, message, no_rank);
    EXPECT_EQ(none.source, no_rank);
    EXPECT_EQ(none.tag, any_tag);
    EXPECT_EQ(none.bytes(), 0);
    EXPECT_EQ(sendrecv(comm, message, no_rank, message, no_rank).source, no_rank);
    if (comm.rank() > 0) {
      Kokkos::deep_copy(message, comm.rank());
      for (int n = 0; n < 3; ++n) send(comm, message, 0, 10 + comm.rank());
      return;
    }
    int sum = 0;
    for (int n = 1; n < comm.size(); ++n) {
      const auto probed = probe(comm);
      EXPECT_EQ(probed.tag, 10 + probed.source);
      EXPECT_EQ(probed.bytes(), 8);
      const auto received = recv(comm, message, any_source, probed.tag);
      EXPECT_EQ(received.source, probed.source);
      EXPECT_EQ(received.tag, probed.tag);
      EXPECT_EQ(received.bytes(), 8);
      EXPECT_EQ(message(1), received.source);
      auto arriving = irecv(comm, message, any_source, probed.tag);
      arriving.wait();
      EXPECT_EQ(arriving.status().source, probed.source);
      EXPECT_EQ(arriving.status().bytes(), 8);
      auto tested = irecv(comm, message, probed.source, any_tag);
      while (!tested.test()) {
      }
      EXPECT_EQ(tested.status().tag, probed.tag);
      sum += received.source;
    }
    EXPECT_EQ(sum, comm.size() * (comm.size() - 1) / 2);
  });
}

/// In contiguous Views and in others, at every check level, around the ring and along a line.
TEST(PointToPoint, Replace) {
  with_levels(all_levels, [](const Communicator& comm) {
    const HostView<int**, Right> block("block", 4, 3);
    const HostView<int> single("single");
    for (const bool periodic : {true, false}) {
      const auto [previous, next] = ring_of(comm, periodic);
      const int arrived = previous == no_rank ? comm.rank() : previous;
      const auto expect = [&](const auto& view, const auto& rest, const auto& last) {
        Kokkos::deep_copy(block, -1);
        Kokkos::deep_copy(view, comm.rank());
        const auto status = sendrecv_replace(comm, view, next, previous, 3);
        EXPECT_EQ(status.source, previous);
        if (previous != no_rank) {
          EXPECT_EQ(status.tag, 3);
          EXPECT_EQ(status.bytes(), static_cast<std::int64_t>(view.size() * sizeof(int)));
        }
        EXPECT_EQ(last(), arrived);
        EXPECT_EQ(rest(), -1);
      };
      expect(
          single, [&] { return block(0, 0); }, [&] { return single(); });
      expect(
          Kokkos::subview(block, 1, Kokkos::ALL), [&] { return block(2, 0); }, [&] { return block(1, 2); });
      expect(
          Kokkos::subview(block, Kokkos::ALL, 1), [&] { return block(3, 2); }, [&] { return block(3, 1); });
      expect(
          Kokkos::subview(block, std::pair(1, 3), std::pair(0, 2)), [&] { return block(2, 2); },
          [&] { return block(2, 1); });
    }
  });
}

} // namespace
} // namespace kontor::comm::test

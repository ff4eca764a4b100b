// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages that bring their extents.
#include "error_text.hpp"
#include "methods.hpp"
#include "views.hpp"

#include <kontor/comm/comm.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Stride = Kokkos::LayoutStride;

template <class T, class Layout, std::size_t rank>
using Owning = Kokkos::View<typename PointerTo<T, rank>::type, Layout, Kokkos::HostSpace>;

/// Rank 0 sends to every other rank, each with a number of its own.
template <class Receiver, class Sender>
void expect_arrives(const Communicator& comm, const Field<Sender>& sender) {
  using T = typename Sender::non_const_value_type;
  scramble(sender.memory, 17);
  if (comm.rank() == 0) {
    for (int r = 1; r < comm.size(); ++r) send_with_extents(comm, sender.view, r, r);
    return;
  }
  const Receiver received = recv_with_extents<Receiver>(comm, any_source, any_tag);
  EXPECT_EQ(received.label(), "sender");
  ASSERT_EQ(extents(received), extents(sender.view));
  for_each_index(extents_of(received), [&](const auto& i) {
    EXPECT_EQ(std::memcmp(&at(received, i), &at(sender.view, i), sizeof(T)), 0);
  });
}

template <class T, std::size_t rank>
void expect_all_pairs(const Index<rank>& extents) {
  for (const auto level : {CheckLevel::off, CheckLevel::local, CheckLevel::cross_rank}) {
    Options options;
    options.check = level;
    const Communicator comm(MPI_COMM_WORLD, options);
    expect_arrives<Owning<T, Left, rank>>(comm, whole<T, Left>("sender", extents));
    expect_arrives<Owning<T, Right, rank>>(comm, whole<T, Left>("sender", extents));
    expect_arrives<Owning<T, Left, rank>>(comm, whole<T, Right>("sender", extents));
    expect_arrives<Owning<T, Right, rank>>(comm, inside<T, Stride>("sender", extents));
    expect_arrives<Owning<T, Left, rank>>(comm, whole<T, Stride>("sender", extents));
    MPI_Barrier(comm.native());
    expect_usable(comm);
  }
}

TEST(WithExtents, Rank0) {
  const Communicator comm(MPI_COMM_WORLD);
  expect_arrives<Owning<double, Right, 0>>(comm, whole<double, Right>("sender", Index<0>{}));
}
TEST(WithExtents, Rank1) {
  expect_all_pairs<int>(Index<1>{5});
}
TEST(WithExtents, Rank2) {
  expect_all_pairs<double>(Index<2>{4, 5});
}
TEST(WithExtents, Rank3) {
  expect_all_pairs<Kokkos::complex<float>>(Index<3>{3, 4, 2});
}
TEST(WithExtents, Rank8) {
  expect_all_pairs<double>(Index<8>{2, 1, 2, 2, 1, 3, 2, 1});
}
TEST(WithExtents, Nothing) {
  expect_all_pairs<double>(Index<2>{3, 0});
}

TEST(WithExtents, ToNobody) {
  const Communicator comm(MPI_COMM_WORLD);
  send_with_extents(comm, Owning<double, Left, 1>("out", 3), no_rank);
  const Owning<double, Left, 1> nothing = recv_with_extents<Owning<double, Left, 1>>(comm, no_rank);
  EXPECT_EQ(nothing.size(), 0u);
}

/// What does not fit is taken away, so the next message is received as if nothing had been; at `cross_rank`
/// the sender hears of it too.
template <class Receiver>
void expect_refused(const std::string& theirs) {
  for (const auto level : {CheckLevel::off, CheckLevel::local, CheckLevel::cross_rank}) {
    Options options;
    options.check = level;
    const Communicator comm(MPI_COMM_WORLD, options);
    if (comm.size() == 1) return;
    const auto expected = "rank 0 sends View 'sender', (4, 5) double, with its extents, but rank 1 receives "
                          "View 'to be made', " +
                          theirs + ", with its extents";
    const auto sender = whole<double, Left>("sender", Index<2>{4, 5});
    if (comm.rank() == 0) {
      EXPECT_EQ(text_of<Error>([&] { send_with_extents(comm, sender.view, 1, 2); }),
                level == CheckLevel::cross_rank ? "send_with_extents to rank 1 (tag 2): " + expected
                                                : "no error");
    }
    if (comm.rank() == 1) {
      EXPECT_EQ(text_of<Error>([&] { recv_with_extents<Receiver>(comm, 0, 2); }),
                "recv_with_extents from rank 0 (tag 2): " + expected);
    }
    MPI_Barrier(comm.native());
    if (comm.rank() < 2)
      expect_arrives<Owning<double, Right, 2>>(comm.split(0), sender);
    else
      comm.split(1);
  }
}

TEST(WithExtents, OtherScalar) {
  expect_refused<Owning<float, Left, 2>>("(any, any) float");
}
TEST(WithExtents, OtherRank) {
  expect_refused<Owning<double, Left, 3>>("(any, any, any) double");
}
TEST(WithExtents, OtherFixedExtent) {
  expect_refused<Kokkos::View<double* [6], Left, Kokkos::HostSpace>>("(any, 6) double");
}

/// Rank 0 sends to all, itself included, before it receives; both ends begin first and wait later.
template <class Sender, class Receiver>
void expect_arrives_later(const Communicator& comm, const Field<Sender>& sender) {
  using T = typename Sender::non_const_value_type;
  scramble(sender.memory, 17);
  const auto root = comm.rank() == 0;
  std::vector<RequestToSendWithExtents<Sender>> sent;
  for (int r = 0; r < comm.size() && root; ++r) sent.push_back(isend_with_extents(comm, sender.view, r, r));
  const auto any = comm.rank() % 2 == 1;
  auto arriving = irecv_with_extents<Receiver>(comm, any ? any_source : 0, any ? any_tag : comm.rank());
  Receiver received;
  if (root)
    received = arriving.wait();
  else
    for (auto found = arriving.test();; found = arriving.test())
      if (found) {
        received = *found;
        break;
      }
  for (auto& request : sent) EXPECT_EQ(request.wait().data(), sender.view.data());
  EXPECT_EQ(received.label(), "sender");
  ASSERT_EQ(extents(received), extents(sender.view));
  for_each_index(extents_of(received), [&](const auto& i) {
    EXPECT_EQ(std::memcmp(&at(received, i), &at(sender.view, i), sizeof(T)), 0);
  });
}

template <class T, std::size_t rank>
void expect_all_pairs_later(const Index<rank>& extents) {
  for (const auto level : {CheckLevel::off, CheckLevel::local, CheckLevel::cross_rank}) {
    Options options;
    options.check = level;
    const Communicator comm(MPI_COMM_WORLD, options);
    const auto left = whole<T, Left>("sender", extents);
    expect_arrives_later<decltype(left.view), Owning<T, Left, rank>>(comm, left);
    expect_arrives_later<decltype(left.view), Owning<T, Right, rank>>(comm, left);
    const auto strided = inside<T, Stride>("sender", extents);
    expect_arrives_later<std::remove_const_t<decltype(strided.view)>, Owning<T, Right, rank>>(comm, strided);
    MPI_Barrier(comm.native());
    expect_usable(comm);
  }
}

TEST(WithExtents, NonBlockingRank0) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto number = whole<double, Right>("sender", Index<0>{});
  expect_arrives_later<std::remove_const_t<decltype(number.view)>, Owning<double, Right, 0>>(comm, number);
}
TEST(WithExtents, NonBlockingRank1) {
  expect_all_pairs_later<int>(Index<1>{5});
}
TEST(WithExtents, NonBlockingRank3) {
  expect_all_pairs_later<Kokkos::complex<float>>(Index<3>{3, 4, 2});
}
TEST(WithExtents, NonBlockingNothing) {
  expect_all_pairs_later<double>(Index<2>{3, 0});
}

/// One of the two ends blocks. Of two receives that fit both, the one that is asked first has the first
/// message.
TEST(WithExtents, BlockingAndNot) {
  for (const auto level : {CheckLevel::local, CheckLevel::cross_rank}) {
    Options options;
    options.check = level;
    const Communicator comm(MPI_COMM_WORLD, options);
    if (comm.size() == 1) return;
    using Row = Owning<double, Left, 1>;
    if (comm.rank() == 0) {
      auto first = isend_with_extents(comm, Row("first", 100000), 1);
      auto second = isend_with_extents(comm, Row("second", 3), 1);
      send_with_extents(comm, Row("third", 50000), 1);
      first.wait();
      second.wait();
    } else if (comm.rank() == 1) {
      auto a = irecv_with_extents<Row>(comm, 0);
      auto b = irecv_with_extents<Row>(comm, 0);
      EXPECT_EQ(b.wait().label(), "first");
      EXPECT_EQ(a.wait().size(), 3U);
      EXPECT_EQ(recv_with_extents<Row>(comm, 0).size(), 50000U);
    }
    MPI_Barrier(comm.native());
    expect_usable(comm);
  }
}

TEST(WithExtents, NonBlockingToNobody) {
  const Communicator comm(MPI_COMM_WORLD);
  using Row = Owning<double, Left, 1>;
  EXPECT_EQ(isend_with_extents(comm, Row("out", 3), no_rank).wait().size(), 3U);
  EXPECT_EQ(irecv_with_extents<Row>(comm, no_rank).wait().size(), 0U);
  EXPECT_TRUE(irecv_with_extents<Row>(comm, no_rank).test().has_value());
}

/// What does not fit is taken away; what is dropped goes on.
TEST(WithExtents, NonBlockingOtherScalarAndDropped) {
  for (const auto level : {CheckLevel::local, CheckLevel::cross_rank}) {
    Options options;
    options.check = level;
    const Communicator comm(MPI_COMM_WORLD, options);
    if (comm.size() == 1) return;
    const auto sender = whole<double, Left>("sender", Index<2>{4, 5});
    const std::string expected =
        "rank 0 sends View 'sender', (4, 5) double, with its extents, but rank 1 receives "
        "View 'to be made', (any, any) float, with its extents";
    if (comm.rank() == 0) {
      EXPECT_EQ(text_of<Error>([&] { isend_with_extents(comm, sender.view, 1, 2).wait(); }),
                level == CheckLevel::cross_rank ? "isend_with_extents to rank 1 (tag 2): " + expected
                                                : "no error");
      (void)isend_with_extents(comm, sender.view, 1, 2);
    }
    if (comm.rank() == 1) {
      EXPECT_EQ(text_of<Error>([&] { irecv_with_extents<Owning<float, Left, 2>>(comm, 0, 2).wait(); }),
                "irecv_with_extents from rank 0 (tag 2): " + expected);
      const auto received = irecv_with_extents<Owning<double, Left, 2>>(comm, 0, 2).wait();
      EXPECT_EQ(received.size(), 20U);
    }
    MPI_Barrier(comm.native());
    expect_usable(comm);
  }
}

TEST(WithExtents, MessageWithout) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  if (comm.rank() == 0) send(comm, Owning<int, Left, 1>("out", 3), 1);
  if (comm.rank() == 1) {
    EXPECT_EQ(text_of<Error>([&] { recv_with_extents<Owning<int, Left, 1>>(comm, 0); }),
              "recv_with_extents from rank 0 (tag 0): the message was not sent by send_with_extents()");
  }
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages and broadcasts that bring the extents of their Views.
#include "device_views.hpp"
#include "views.hpp"

namespace kontor::comm::test {
namespace {

using WithExtents = OnRing;

/// Rank 0 sends to every other rank, each with a number of its own.
template <class Receiver, class Sender>
void expect_arrives(const Communicator& comm, const Field<Sender>& sender) {
  scramble(sender.memory, 17);
  if (comm.rank() == 0) {
    for (int r = 1; r < comm.size(); ++r) send_with_extents(comm, sender.view, r, r);
    return;
  }
  const Receiver received = recv_with_extents<Receiver>(comm, any_source, any_tag);
  EXPECT_EQ(received.label(), "sender");
  expect_equal_elements(received, sender.view);
}

template <class T, std::size_t rank>
void expect_arrives_anyhow(const Communicator& comm, const Index<rank>& extents) {
  const auto strided = inside<T, Stride>("sender", extents);
  expect_arrives<Owning<T, Left, rank>>(comm, whole<T, Left>("sender", extents));
  expect_arrives<Owning<T, Left, rank>>(comm, strided);
  expect_arrives<Owning<T, Right, rank>>(comm, strided);
  MPI_Barrier(comm.native());
  expect_usable(comm);
}

TEST_F(WithExtents, RanksAndLayouts) {
  with_levels(all_levels, [](const Communicator& comm) {
    expect_arrives_anyhow<double>(comm, Index<2>{4, 5});
    expect_arrives_anyhow<double>(comm, Index<2>{3, 0});
    expect_arrives_anyhow<Kokkos::complex<float>>(comm, Index<8>{2, 1, 2, 2, 1, 3, 2, 1});
  });
  expect_arrives<Owning<double, Right, 0>>(comm, whole<double, Right>("sender", Index<0>{}));
}

TEST_F(WithExtents, ToNobodyAndWithout) {
  send_with_extents(comm, Doubles("out", 3), no_rank);
  EXPECT_EQ(recv_with_extents<Doubles>(comm, no_rank).size(), 0U);
  if (comm.size() == 1) return;
  if (comm.rank() == 0) send(comm, Ints("out", 3), 1);
  if (comm.rank() == 1) {
    expect_error<Error>([&] { recv_with_extents<Ints>(comm, 0); },
                        {"recv_with_extents from rank 0 (tag 0): the message was not sent by send_with_extents()"});
  }
}

/// What does not fit is taken away: the next message is received as ever; at `cross_rank` the sender hears of it too.
template <class Receiver>
void expect_refused(const std::string& theirs) {
  with_levels(all_levels, [&](const Communicator& comm) {
    if (comm.size() == 1) return;
    const auto sender = whole<double, Left>("sender", Index<2>{4, 5});
    const auto why = " (tag 2): rank 0 sends View 'sender', (4, 5) double, with its extents, but rank 1 receives View "
                     "'to be made', " +
                     theirs + ", with its extents";
    const auto sends = [&] { send_with_extents(comm, sender.view, 1, 2); };
    if (comm.rank() == 0 && comm.options().check != CheckLevel::cross_rank) sends();
    if (comm.rank() == 0 && comm.options().check == CheckLevel::cross_rank)
      expect_error<Error>(sends, {"send_with_extents to rank 1" + why});
    if (comm.rank() == 1)
      expect_error<Error>([&] { recv_with_extents<Receiver>(comm, 0, 2); }, {"recv_with_extents from rank 0" + why});
    expect_arrives<Owning<double, Right, 2>>(comm, sender);
  });
}

TEST_F(WithExtents, ViewsThatDoNotFit) {
  expect_refused<Owning<float, Left, 2>>("(any, any) float");
  expect_refused<Owning<double, Left, 3>>("(any, any, any) double");
  expect_refused<HostView<double* [6], Left>>("(any, 6) double");
}

template <class T, class Layout, std::size_t rank>
void expect_broadcast(const Communicator& comm, const Index<rank>& extents) {
  using View = Owning<T, Layout, rank>;
  for (int root = 0; root < comm.size(); ++root) {
    const auto theirs = whole<T, Layout>("theirs", extents);
    scramble(theirs.memory, static_cast<std::uint64_t>(root));
    const View given = comm.rank() == root ? View(whole<T, Layout>("mine", extents).view)
                                           : View("mine", layout_of<Layout>(Index<rank>{}));
    if (comm.rank() == root) Kokkos::deep_copy(given, theirs.view);
    View view = given;
    bcast_with_extents(comm, view, root);
    EXPECT_EQ(view.label(), "mine");
    EXPECT_TRUE(comm.rank() != root || view.data() == given.data());
    expect_equal_elements(view, theirs.view);
    // of the same extents: the View stays
    const auto* const memory = view.data();
    bcast_with_extents(comm, view, root);
    EXPECT_EQ(view.data(), memory);
  }
}

TEST(BcastWithExtents, RanksAndLayouts) {
  with_levels(levels_with_checks, [](const Communicator& comm) {
    expect_broadcast<double, Left>(comm, Index<2>{4, 3});
    expect_broadcast<double, Left>(comm, Index<2>{3, 0});
    expect_broadcast<Kokkos::complex<float>, Right>(comm, Index<8>{2, 1, 2, 2, 1, 3, 2, 1});
    HostView<double> view("number");
    if (comm.rank() == 0) view() = 7;
    bcast_with_extents(comm, view, 0);
    EXPECT_EQ(view(), 7);
  });
}

TEST(BcastWithExtents, WhereKernelsRun) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    for (int root = 0; root < comm.size(); ++root) {
      Row view("row", static_cast<std::size_t>(comm.rank() == root ? 5 : comm.rank()));
      on_device::set(view, comm.rank() == root ? 3 : 0);
      Kokkos::fence();
      bcast_with_extents(comm, view, root);
      EXPECT_EQ(view.size(), 5U);
      EXPECT_EQ(on_device::wrong(view, 3), 0);
    }
  });
}

/// Only one rank's View cannot be the root's: the others go on, below level `cross_rank`.
template <class Right, class Wrong>
void expect_wrong_on_rank_1(Right right, Wrong wrong, const std::string& fact) {
  with_levels(all_levels, [&](const Communicator& comm) {
    const auto call = [&] {
      comm.rank() == 1 ? bcast_with_extents(comm, wrong, 0) : bcast_with_extents(comm, right, 0);
    };
    if (comm.size() > 1 && comm.options().check == CheckLevel::cross_rank)
      expect_error<UsageError>(call, {"on rank 1: ", fact});
    else if (comm.rank() == 1)
      expect_error<Error>(call, {fact});
    else
      call();
    expect_usable(comm);
  });
}

TEST(BcastWithExtents, ViewsThatDiffer) {
  expect_wrong_on_rank_1(HostView<double* [3]>("right", 2), HostView<double* [4]>("wrong", 2),
                         "the root's has extents (2, 3)");
  for (const int size : {1, 100000}) // MPI cuts long ones between elements
    expect_wrong_on_rank_1(HostView<float*>("right", size), Ints("wrong", size), "of float, and this rank's of int32");
}

} // namespace
} // namespace kontor::comm::test

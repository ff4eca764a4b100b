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

/// Pairs of layouts. The elements are reordered by code that is compiled once, so `all` are for one type and rank.
enum class Pairs { few, all };

template <class T, Pairs pairs = Pairs::few, std::size_t rank>
void expect_pairs(const Index<rank>& extents) {
  with_levels(all_levels, [&](const Communicator& comm) {
    const auto left = whole<T, Left>("sender", extents);
    const auto right = whole<T, Right>("sender", extents);
    const auto strided = inside<T, Stride>("sender", extents);
    if constexpr (pairs == Pairs::all) {
      expect_arrives<Owning<T, Left, rank>>(comm, left);
      expect_arrives<Owning<T, Right, rank>>(comm, left);
      expect_arrives<Owning<T, Left, rank>>(comm, whole<T, Stride>("sender", extents));
    }
    expect_arrives<Owning<T, Left, rank>>(comm, right);
    expect_arrives<Owning<T, Right, rank>>(comm, strided);
    MPI_Barrier(comm.native());
    expect_usable(comm);
  });
}

TEST_F(WithExtents, RanksAndLayouts) {
  expect_pairs<int>(Index<1>{5});
  expect_pairs<double, Pairs::all>(Index<2>{4, 5});
  expect_pairs<Kokkos::complex<float>>(Index<3>{3, 4, 2});
  expect_pairs<double>(Index<8>{2, 1, 2, 2, 1, 3, 2, 1});
  expect_pairs<double, Pairs::all>(Index<2>{3, 0});
  const auto number = whole<double, Right>("sender", Index<0>{});
  expect_arrives<Owning<double, Right, 0>>(comm, number);
}

TEST_F(WithExtents, ToNobodyAndWithout) {
  send_with_extents(comm, Doubles("out", 3), no_rank);
  EXPECT_EQ(recv_with_extents<Doubles>(comm, no_rank).size(), 0U);
  if (comm.size() == 1) return;
  if (comm.rank() == 0) send(comm, Ints("out", 3), 1);
  if (comm.rank() == 1) {
    EXPECT_EQ(text_of<Error>([&] { recv_with_extents<Ints>(comm, 0); }),
              "recv_with_extents from rank 0 (tag 0): the message was not sent by send_with_extents()");
  }
}

/// What does not fit is taken away: the next message is received as ever; at `cross_rank` the sender hears of it too.
template <class Receiver>
void expect_refused(const std::string& theirs) {
  with_levels(all_levels, [&](const Communicator& comm) {
    if (comm.size() == 1) return;
    const auto sender = whole<double, Left>("sender", Index<2>{4, 5});
    const auto why = " (tag 2): rank 0 sends View 'sender', (4, 5) double, with its extents, but rank 1 "
                     "receives View 'to be made', " +
                     theirs + ", with its extents";
    const auto expect_text = [&](int rank, const auto& call, const std::string& text) {
      if (comm.rank() == rank) {
        EXPECT_EQ(text_of<Error>(call), text + why);
      }
    };
    const bool sender_hears = comm.options().check == CheckLevel::cross_rank;
    const auto expect_sent = [&](const auto& call, const char* name) {
      if (sender_hears)
        expect_text(0, call, fmt::format("{} to rank 1", name));
      else if (comm.rank() == 0)
        call();
    };
    expect_sent([&] { send_with_extents(comm, sender.view, 1, 2); }, "send_with_extents");
    expect_text(
        1, [&] { recv_with_extents<Receiver>(comm, 0, 2); }, "recv_with_extents from rank 0");
    MPI_Barrier(comm.native());
    if (comm.rank() < 2)
      expect_arrives<Owning<double, Right, 2>>(comm.split(0), sender);
    else
      comm.split(1);
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

template <class T, class... Layouts, std::size_t rank>
void expect_broadcasts(const Index<rank>& extents) {
  with_levels(levels_with_checks,
              [&](const Communicator& comm) { (expect_broadcast<T, Layouts>(comm, extents), ...); });
}

TEST(BcastWithExtents, RanksAndLayouts) {
  expect_broadcasts<int, Left>(Index<1>{5});
  expect_broadcasts<Kokkos::complex<float>, Right>(Index<2>{4, 3});
  expect_broadcasts<double, Left>(Index<8>{2, 1, 2, 2, 1, 3, 2, 1});
  expect_broadcasts<double, Left, Right>(Index<2>{3, 0});
}

TEST(BcastWithExtents, Rank0) {
  const Communicator comm(MPI_COMM_WORLD);
  HostView<double> view("number");
  if (comm.rank() == 0) view() = 7;
  bcast_with_extents(comm, view, 0);
  EXPECT_EQ(view(), 7);
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

TEST(BcastWithExtents, FixedExtentsThatDiffer) {
  expect_wrong_on_rank_1(HostView<double* [3]>("right", 2), HostView<double* [4]>("wrong", 2),
                         "the root's has extents (2, 3)");
}

TEST(BcastWithExtents, ScalarsThatDiffer) {
  struct Three {
    int values[3];
  };
  for (const int size : {1, 100000}) { // MPI cuts long ones between elements
    expect_wrong_on_rank_1(HostView<float*>("right", size), Ints("wrong", size), "of float, and this rank's of int32");
    expect_wrong_on_rank_1(HostView<Three*>("right", size), Doubles("wrong", size), "of 12-byte struct, and");
  }
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Broadcasts that bring the extents of the root's View.
#include "sizes.hpp"
#include "views.hpp"

namespace kontor::comm::test {
namespace {

template <class T, class Layout, std::size_t rank>
void expect_broadcast(const Communicator& comm, const Index<rank>& extents) {
  using View = Owning<T, Layout, rank>;
  for (int root = 0; root < comm.size(); ++root)
    for (const bool blocking : {true, false}) {
      const auto theirs = whole<T, Layout>("theirs", extents);
      scramble(theirs.memory, static_cast<std::uint64_t>(root));
      const View given = comm.rank() == root ? View(whole<T, Layout>("mine", extents).view)
                                             : View("mine", layout_of<Layout>(Index<rank>{}));
      if (comm.rank() == root) Kokkos::deep_copy(given, theirs.view);
      View view = given;
      if (blocking)
        bcast_with_extents(comm, view, root);
      else
        view = ibcast_with_extents(comm, view, root).wait();
      EXPECT_EQ(view.label(), "mine");
      EXPECT_TRUE(comm.rank() != root || view.data() == given.data());
      expect_equal_elements(view, theirs.view);
      // of the same extents: the View stays
      const auto* const memory = view.data();
      bcast_with_extents(comm, view, root);
      EXPECT_EQ(view.data(), memory);
    }
}

template <class T, std::size_t rank>
void expect_broadcasts(const Index<rank>& extents) {
  with_levels(levels_with_checks, [&](const Communicator& comm) {
    expect_broadcast<T, Left>(comm, extents);
    expect_broadcast<T, Right>(comm, extents);
  });
}

TEST(BcastWithExtents, RanksAndLayouts) {
  expect_broadcasts<int>(Index<1>{5});
  expect_broadcasts<Kokkos::complex<float>>(Index<2>{4, 3});
  expect_broadcasts<double>(Index<8>{2, 1, 2, 2, 1, 3, 2, 1});
  expect_broadcasts<double>(Index<2>{3, 0});
}

TEST(BcastWithExtents, Rank0) {
  const Communicator comm(MPI_COMM_WORLD);
  HostView<double> view("number");
  if (comm.rank() == 0) view() = 7;
  bcast_with_extents(comm, view, 0);
  EXPECT_EQ(view(), 7);
  HostView<double> nothing;
  if (comm.rank() == 0) nothing = view;
  EXPECT_EQ(ibcast_with_extents(comm, nothing, 0).wait()(), 7);
}

TEST(BcastWithExtents, WhereKernelsRun) {
  with_levels_and_memories([](const Communicator& comm, auto row) {
    using Row = decltype(row);
    for (int root = 0; root < comm.size(); ++root) {
      Row view("row", static_cast<std::size_t>(comm.rank() == root ? 5 : comm.rank()));
      on_device::set(view, comm.rank() == root ? 3 : 0);
      Kokkos::fence();
      const auto later = ibcast_with_extents(comm, view, root).wait();
      bcast_with_extents(comm, view, root);
      EXPECT_EQ(view.size(), 5U);
      EXPECT_EQ(on_device::wrong(view, 3), 0);
      EXPECT_EQ(later.size(), 5U);
      EXPECT_EQ(on_device::wrong(later, 3), 0);
    }
  });
}

/// Only one rank's View cannot have the extents: the others go on, at level `local`.
TEST(BcastWithExtents, FixedExtentsThatDiffer) {
  for (const bool blocking : {true, false}) {
    const Communicator comm(MPI_COMM_WORLD);
    if (comm.size() == 1) GTEST_SKIP() << "there is a root only";
    Kokkos::View<double* [3], Kokkos::HostSpace> right("right", 2);
    Kokkos::View<double* [4], Kokkos::HostSpace> wrong("wrong", 2);
    const auto broadcast = [&](auto& view) {
      if (blocking)
        bcast_with_extents(comm, view, 0);
      else
        view = ibcast_with_extents(comm, view, 0).wait();
    };
    if (comm.rank() != 1)
      broadcast(right);
    else
      expect_facts(text_of<Error>([&] { broadcast(wrong); }), {"the root's has extents (2, 3)"});
    expect_usable(comm);
  }
}

} // namespace
} // namespace kontor::comm::test

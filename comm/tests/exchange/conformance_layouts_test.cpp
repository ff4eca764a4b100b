// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every layout to every layout.
#include "ring.hpp"

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Stride = Kokkos::LayoutStride;

template <class Sender, class Receiver, std::size_t rank>
void expect_pair(const Index<rank>& up, const Index<rank>& down) {
  expect_ring(inside<double, Sender>("a", up), inside<double, Receiver>("b", up),
              whole<double, Receiver>("c", down), inside<double, Sender>("d", down));
  expect_ring(whole<double, Sender>("a", up), whole<double, Receiver>("b", up),
              inside<double, Receiver>("c", down), whole<double, Sender>("d", down));
}

template <class Sender, class Receiver>
void expect_pair() {
  expect_pair<Sender, Receiver>(Index<2>{5, 4}, Index<2>{2, 7});
  expect_pair<Sender, Receiver>(Index<3>{3, 4, 5}, Index<3>{6, 1, 3});
}

TEST(Layouts, LeftToLeft) {
  expect_pair<Left, Left>();
}
TEST(Layouts, LeftToRight) {
  expect_pair<Left, Right>();
}
TEST(Layouts, LeftToStride) {
  expect_pair<Left, Stride>();
}
TEST(Layouts, RightToLeft) {
  expect_pair<Right, Left>();
}
TEST(Layouts, RightToRight) {
  expect_pair<Right, Right>();
}
TEST(Layouts, RightToStride) {
  expect_pair<Right, Stride>();
}
TEST(Layouts, StrideToLeft) {
  expect_pair<Stride, Left>();
}
TEST(Layouts, StrideToRight) {
  expect_pair<Stride, Right>();
}
TEST(Layouts, StrideToStride) {
  expect_pair<Stride, Stride>();
}

/// The ranks need not have the same layouts, nor need the two ends of a message.
TEST(Layouts, DifferOnDifferentRanks) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Index<3> up{3, 4, 5};
  const Index<3> down{4, 2, 3};
  if (rank % 3 == 0)
    expect_ring(whole<double, Left>("a", up), inside<double, Right>("b", up), inside<double, Left>("c", down),
                whole<double, Stride>("d", down));
  else if (rank % 3 == 1)
    expect_ring(inside<double, Right>("a", up), whole<double, Stride>("b", up),
                whole<double, Right>("c", down), inside<double, Left>("d", down));
  else
    expect_ring(whole<double, Stride>("a", up), whole<double, Left>("b", up),
                inside<double, Stride>("c", down), whole<double, Right>("d", down));
}

/// Equal layouts without gaps travel in one piece, so packing `none` is enough.
TEST(Layouts, ContiguousPairsNeedNoPacking) {
  const Index<2> up{5, 4};
  const Index<3> down{2, 3, 4};
  expect_ring(whole<double, Left>("a", up), whole<double, Left>("b", up), whole<double, Right>("c", down),
              whole<double, Right>("d", down), Contiguity::yes);
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of rank 0 to 8.
#include "ring.hpp"

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Stride = Kokkos::LayoutStride;

TEST(Ranks, Zero) {
  expect_ring(whole<double, Left>("a", Index<0>{}), inside<double, Right>("b", Index<0>{}),
              inside<double, Left>("c", Index<0>{}), whole<double, Right>("d", Index<0>{}), Contiguity::yes);
}

TEST(Ranks, One) {
  expect_ring(whole<double, Left>("a", Index<1>{7}), inside<double, Right>("b", Index<1>{7}),
              inside<double, Left>("c", Index<1>{9}), whole<double, Right>("d", Index<1>{9}),
              Contiguity::yes);
  expect_ring(whole<double, Stride>("a", Index<1>{7}), inside<double, Left>("b", Index<1>{7}),
              inside<double, Right>("c", Index<1>{9}), inside<double, Stride>("d", Index<1>{9}));
}

TEST(Ranks, Four) {
  const Index<4> up{2, 3, 4, 5};
  const Index<4> down{3, 1, 2, 4};
  expect_ring(whole<double, Left>("a", up), inside<double, Right>("b", up), inside<double, Left>("c", down),
              whole<double, Stride>("d", down));
}

TEST(Ranks, Eight) {
  const Index<8> up{2, 3, 1, 2, 3, 2, 1, 2};
  const Index<8> down{1, 2, 2, 2, 1, 3, 2, 2};
  expect_ring(whole<double, Left>("a", up), whole<double, Right>("b", up), whole<double, Right>("c", down),
              whole<double, Stride>("d", down));
}

/// Extents of 1 have strides that mean nothing: both ends are in one piece whatever their layout.
TEST(Ranks, ExtentsOfOneDoNotCount) {
  const Index<3> up{1, 6, 1};
  const Index<3> down{1, 1, 1};
  expect_ring(whole<double, Left>("a", up), whole<double, Right>("b", up), whole<double, Right>("c", down),
              inside<double, Left>("d", down), Contiguity::yes);
}

/// A row longer than one work item of the pack kernel.
TEST(Ranks, LongRows) {
  const Index<2> up{3, 10000};
  const Index<2> down{9000, 2};
  expect_ring(whole<double, Left>("a", up), inside<double, Right>("b", up), inside<double, Right>("c", down),
              whole<double, Stride>("d", down));
}

} // namespace
} // namespace kontor::comm::test

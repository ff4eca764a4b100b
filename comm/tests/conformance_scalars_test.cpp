// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one element may be.
#include "ring.hpp"

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Stride = Kokkos::LayoutStride;

struct Particle {
  double position[3];
  std::int32_t id;
  float charge;
};

template <class T>
void expect_scalar() {
  const Index<2> up{5, 4};
  const Index<2> down{3, 6};
  expect_ring(whole<T, Left>("a", up), inside<T, Right>("b", up), inside<T, Stride>("c", down),
              whole<T, Left>("d", down));
}

TEST(Scalars, Int) {
  expect_scalar<int>();
}
TEST(Scalars, Float) {
  expect_scalar<float>();
}
TEST(Scalars, Complex) {
  expect_scalar<Kokkos::complex<double>>();
}
TEST(Scalars, UnsignedByte) {
  expect_scalar<unsigned char>();
}
TEST(Scalars, Struct) {
  expect_scalar<Particle>();
}

} // namespace
} // namespace kontor::comm::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed messages of any scalar.
#include "messages.hpp"

#include <complex>

namespace kontor::comm::test {
namespace {

struct Particle {
  double x[3];
  int kind;
  char name[5];
};

template <class T>
class PointToPointScalars : public testing::Test {};
using Scalars =
    testing::Types<char, signed char, unsigned char, char16_t, wchar_t, short, unsigned short, int, unsigned,
                   long, unsigned long, long long, unsigned long long, float, double, long double,
                   Kokkos::complex<float>, Kokkos::complex<double>, std::complex<float>, std::complex<double>,
                   std::complex<long double>, Particle>;
TYPED_TEST_SUITE(PointToPointScalars, Scalars);

TYPED_TEST(PointToPointScalars, Arrive) {
  expect_delivered(inside<TypeParam, Kokkos::LayoutLeft>("out", Index<2>{3, 2}),
                   inside<TypeParam, Kokkos::LayoutLeft>("in", Index<2>{3, 2}));
}

/// Not with random bits: a bool has two values.
TEST(PointToPointScalars, Bool) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const Kokkos::View<bool*, Kokkos::HostSpace> out("out", 2);
  const Kokkos::View<bool*, Kokkos::HostSpace> in("in", 2);
  out(1) = true;
  exchange(comm, out, next, in, previous);
  EXPECT_FALSE(in(0));
  EXPECT_TRUE(in(1));
}

} // namespace
} // namespace kontor::comm::test

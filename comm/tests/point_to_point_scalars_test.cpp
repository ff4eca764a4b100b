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
                   long, unsigned long, long long, unsigned long long, float, double, Kokkos::complex<float>,
                   Kokkos::complex<double>, std::complex<float>, std::complex<double>, Particle>;
TYPED_TEST_SUITE(PointToPointScalars, Scalars);

TYPED_TEST(PointToPointScalars, Arrive) {
  expect_delivered(inside<TypeParam, Kokkos::LayoutLeft>("out", Index<2>{3, 2}),
                   inside<TypeParam, Kokkos::LayoutLeft>("in", Index<2>{3, 2}));
}

/// What cannot be compared by random bits: not all of them count.
template <class T>
void expect_value(const T& value) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const Kokkos::View<T*, Kokkos::HostSpace> out("out", 2);
  const Kokkos::View<T*, Kokkos::HostSpace> in("in", 2);
  out(1) = value;
  sendrecv(comm, out, next, in, previous);
  EXPECT_EQ(in(0), T());
  EXPECT_EQ(in(1), value);
}
TEST(PointToPointScalars, Pair) {
  expect_value(std::pair(3, 0.5));
}
TEST(PointToPointScalars, PairsInArrays) {
  expect_value(
      std::array{std::pair(Kokkos::complex<double>(1, 2), 'a'), std::pair(Kokkos::complex<double>(), 'b')});
}
TEST(PointToPointScalars, KokkosArray) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const Kokkos::View<Kokkos::Array<int, 2>*, Kokkos::LayoutRight, Kokkos::HostSpace> out("out", 3),
      in("in", 3);
  out(2)[1] = comm.rank() + 7;
  sendrecv(comm, out, next, in, previous);
  EXPECT_EQ(in(2)[0], 0);
  EXPECT_EQ(in(2)[1], previous + 7);
}
TEST(PointToPointScalars, Bool) {
  expect_value(true);
}
TEST(PointToPointScalars, LongDouble) {
  expect_value(1 / 3.0L);
}
TEST(PointToPointScalars, ComplexLongDouble) {
  expect_value(std::complex<long double>(1 / 3.0L, -2));
}

} // namespace
} // namespace kontor::comm::test

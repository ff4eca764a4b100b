// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed messages of any scalar.
#include "messages.hpp"

#include <array>
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
using Scalars = testing::Types<signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                               float, double, Kokkos::complex<float>, std::complex<double>, Particle>;
TYPED_TEST_SUITE(PointToPointScalars, Scalars);

/// By one call: the others do the same with the scalar.
TYPED_TEST(PointToPointScalars, Arrive) {
  const auto out = inside<TypeParam, Left>("out", Index<2>{3, 2});
  const auto in = inside<TypeParam, Left>("in", Index<2>{3, 2});
  expect_delivered(Delivery(watched(out), watched(in)), {[&](const Communicator& comm, int next, int previous) {
                     sendrecv(comm, out.view, next, in.view, previous);
                   }});
}

/// Types that are the same to the layer travel alike.
template <class T, class Other>
constexpr bool same = scalar_of<T>() == scalar_of<Other>();
static_assert(same<char, std::conditional_t<std::is_signed_v<char>, signed char, unsigned char>>);
static_assert(same<char16_t, unsigned short>);
static_assert(same<wchar_t, std::conditional_t<std::is_signed_v<wchar_t>, int, unsigned>>);
static_assert(same<long long, long> && same<unsigned long long, unsigned long>);
static_assert(same<std::complex<float>, Kokkos::complex<float>>);
static_assert(same<Kokkos::complex<double>, std::complex<double>>);

/// What cannot be compared by random bits: not all of them count.
template <class T>
void expect_value(const T& value) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const HostView<T*> out("out", 2);
  const HostView<T*> in("in", 2);
  out(1) = value;
  sendrecv(comm, out, next, in, previous);
  EXPECT_EQ(in(0), T());
  EXPECT_EQ(in(1), value);
}
TEST(PointToPointScalars, OfWhichNotAllBitsCount) {
  using Complex = Kokkos::complex<double>;
  expect_value(std::pair(3, 0.5));
  expect_value(std::array{std::pair(Complex(1, 2), 'a'), std::pair(Complex(), 'b')});
  expect_value(true);
  expect_value(1 / 3.0L);
  expect_value(std::complex<long double>(1 / 3.0L, -2));
}
TEST(PointToPointScalars, KokkosArray) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const HostView<Kokkos::Array<int, 2>*, Right> out("out", 3), in("in", 3);
  out(2)[1] = comm.rank() + 7;
  sendrecv(comm, out, next, in, previous);
  EXPECT_EQ(in(2)[0], 0);
  EXPECT_EQ(in(2)[1], previous + 7);
}

} // namespace
} // namespace kontor::comm::test
